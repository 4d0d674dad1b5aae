cimport cython
from webseam.documents.html.tree cimport Element, is_block

cdef dict CONTEXT_BIT, _INLINE_BIT
cdef frozenset _IGNORED

@cython.final
cdef class Blocks:
    cdef public list texts, link_chars, holders, contexts, depths, tags, begins, ends, words
    cdef public list elements, parents, element_tags, names, signatures, pictures

cpdef Blocks blocks_of(Element body)

@cython.final
cdef class _Walk:
    cdef Blocks blocks
    cdef dict known
    cdef list pieces
    cdef Py_ssize_t linked, bits
    cdef bint picture

    @cython.locals(index=Py_ssize_t, attributes=dict, names=tuple, bit=Py_ssize_t)
    cdef int element(self, Element element, Py_ssize_t parent, Py_ssize_t context, Py_ssize_t depth, bint in_link) except -1
    @cython.locals(raw=str, words=list)
    cdef tuple words(self, dict attributes)
    @cython.locals(begin=Py_ssize_t, place=Py_ssize_t, inner=Element, tag=str)
    cdef int children(
        self, Element element, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth, bint in_link
    ) except -1
    @cython.locals(element=Element, tag=str, linked=bint)
    cdef int inline(self, child, bint in_link) except -1
    @cython.locals(text=str)
    cdef int end(
        self, Element element, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth
    ) except -1
