cimport cython
from webseam.documents.html.tree cimport Element, is_block

cdef dict _BIT, _INLINE_BIT
cdef frozenset _IGNORED
cdef long long _MANY

@cython.final
cdef class Blocks:
    cdef public list texts, words, sizes, link_chars, holders, contexts, depths, tags, begins, ends
    cdef public set linked
    cdef public list parents, element_tags, said, named, signatures, pictures

    cpdef tuple names(self, Py_ssize_t element)

cpdef Blocks blocks_of(Element body)

@cython.final
cdef class _Walk:
    cdef Blocks blocks
    cdef dict known, firsts, tags, paths
    cdef list pieces
    cdef Py_ssize_t linked, bits
    cdef bint picture
    cdef str href

    @cython.locals(index=Py_ssize_t, tag=str, path="long long", known=tuple)
    cdef element(self, Element element, Py_ssize_t parent, Py_ssize_t context, Py_ssize_t depth, str link)
    @cython.locals(said=str, found=tuple, place=Py_ssize_t)
    cdef tuple names(self, dict attributes)
    @cython.locals(begin=Py_ssize_t, place=Py_ssize_t, inner=Element, tag=str, in_link=bint, around=str)
    cdef children(self, Element element, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth, str link)
    @cython.locals(element=Element, tag=str, linked=bint)
    cdef part(self, child, bint in_link)
    @cython.locals(text=str, first=list, count=Py_ssize_t, href=str)
    cdef end(
        self, Element element, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t holder, Py_ssize_t context, Py_ssize_t depth, str link
    )

@cython.locals(
    index=Py_ssize_t, element=Element, begin=Py_ssize_t, children=list, place=Py_ssize_t, end=Py_ssize_t, before=Py_ssize_t,
    last=Py_ssize_t,
)
cpdef prune(Blocks blocks, kept)
