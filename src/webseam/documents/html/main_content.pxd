cimport cython
from webseam.documents.html.blocks cimport Blocks, blocks_of
from webseam.documents.html.classifier cimport choose
from webseam.documents.html.tree cimport Element

cdef frozenset _HEADINGS, _WHOLE, _SAYS_WHO
cdef Py_ssize_t _FRAME, _HEADER, _MAIN

@cython.locals(
    all_kept=set, count=Py_ssize_t, inside=list, around=set, index=Py_ssize_t, element=Py_ssize_t, context=Py_ssize_t, alike=bint,
    headings=set, first=Py_ssize_t,
)
cpdef set completed(Blocks blocks, frozenset kept, likely, dict names)

@cython.locals(name=str)
cdef bint _named_not(Blocks blocks, Py_ssize_t element, set around, dict names) except -1

@cython.locals(kin=dict, index=Py_ssize_t, holder=Py_ssize_t, found=list)
cdef _keep_kin(Blocks blocks, set all_kept, frozenset kept, likely)

@cython.locals(
    parents=list, tags=list, within=list, element=Py_ssize_t, parent=Py_ssize_t, members=dict, index=Py_ssize_t,
    holder=Py_ssize_t, found=list, sizes=list, size=Py_ssize_t, chosen=Py_ssize_t,
)
cdef _complete_tables(Blocks blocks, set kept, list inside)

@cython.locals(found=dict, index=Py_ssize_t, holder=Py_ssize_t, parent=Py_ssize_t, lines=list)
cdef _say_who(Blocks blocks, set kept, list inside)
