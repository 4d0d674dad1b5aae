cimport cython
from webseam.documents.html.tree cimport Element, is_block

cdef dict _INLINE_BIT
cdef frozenset _IGNORED

@cython.final
cdef class Blocks:
    cdef public list texts, words, sizes, link_chars, holders, contexts, depths, tags, begins, ends
    cdef public list elements, parents, element_tags, names, signatures, pictures

cpdef list words_of(str text)

cpdef Blocks blocks_of(Element body)

@cython.final
cdef class _Walk:
    cdef Blocks blocks
    cdef dict known, paths
    cdef list pieces
    cdef Py_ssize_t linked, bits
    cdef bint picture

    @cython.locals(index=Py_ssize_t, attributes=dict, names=tuple, path=tuple)
    cdef element(self, Element element, Py_ssize_t parent, Py_ssize_t context, Py_ssize_t depth, bint in_link)
    @cython.locals(raw=str, words=list)
    cdef tuple words(self, dict attributes)
    @cython.locals(begin=Py_ssize_t, place=Py_ssize_t, inner=Element, tag=str)
    cdef children(self, Element element, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth, bint in_link)
    @cython.locals(element=Element, tag=str, linked=bint)
    cdef part(self, child, bint in_link)
    @cython.locals(text=str, words=list)
    cdef end(
        self, Element element, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth
    )
