cimport cython
from webseam.documents.html.tree cimport Element, first

cdef object _NONE, _SCRIPTED, _TEXT, _BOX
cdef frozenset _FOLDED, _SPOKEN, _FRAME, _NOT_SEEN, _IN_MENUS

@cython.final
cdef class Styles:
    cdef public dict known
    cdef public Py_ssize_t room
    cdef public dict spoken

    cpdef judge(self, str style)
    cpdef bint is_spoken(self, str names) except -1

@cython.locals(attributes=dict, value=str)
cpdef hidden_by(Element element, Styles styles)

@cython.locals(
    elements=list, parents=list, how=dict, index=Py_ssize_t, dropped=Py_ssize_t, room=Py_ssize_t, count=Py_ssize_t, work=Py_ssize_t,
    sizes=list, weights=list, shown=list, outermost=list, inside=list, visible=Py_ssize_t, with_frame=Py_ssize_t,
    hidden=list, parts=list, shown_all_the_same=set, largest=Py_ssize_t,
)
cpdef tuple drop_hidden(page, str source=*)

@cython.locals(elements=list, opened=set, element=Element, index=Py_ssize_t, sizes=list)
cdef _open_folds(dict how, seen)

@cython.locals(sizes=list, index=Py_ssize_t)
cdef list _sizes(list elements, list parents)

@cython.locals(attributes=dict)
cdef bint _stands_behind(Element element, Py_ssize_t size, Py_ssize_t whole) except -1

@cython.locals(attributes=dict, names=str)
cdef bint _folds(Element element, set opened) except -1

@cython.locals(gone=set, element=Element, parent=Py_ssize_t)
cdef _take_out(list places, list elements, list parents)

@cython.locals(out=list, element=Element, visible=Py_ssize_t, index=Py_ssize_t, outside=bint)
cdef bint _shows_enough(list elements, list parents, dict hidden) except -1

@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _size_of(Element element) except -1

@cython.locals(one=Element, inner=Element, kept=list, stack=list, dropped=Py_ssize_t, work=Py_ssize_t)
cdef tuple _drop_text(Element element)

@cython.locals(
    sizes=list, aside=list, unseen=list, weights=list, shown=list, element=Element, index=Py_ssize_t, parent=Py_ssize_t,
    size=Py_ssize_t,
)
cdef tuple _measure(list elements, list parents)

@cython.locals(found=list, after=Py_ssize_t, end=Py_ssize_t, index=Py_ssize_t)
cdef list _outermost_within(Py_ssize_t top, list ends, list hidden)
