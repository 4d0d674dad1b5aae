cimport cython
from webseam.documents.html.code cimport code_span, named_language
from webseam.documents.html.escape cimport escape, indent, line_start, paragraphs, wrap
from webseam.documents.html.links cimport Base
from webseam.documents.html.lists cimport check_box, integer
from webseam.documents.html.tree cimport Element, text_of

cdef frozenset SILENT, _WRITTEN_BLOCKS, _WRITTEN_INLINE

@cython.final
cdef class _Flow:
    cdef list blocks
    cdef list line

cdef bint _holds_block(Element element) except -1

@cython.final
cdef class _Writer:
    cdef Base base
    cdef Py_ssize_t left, strong, emphasis, link, heading, indents
    cdef str card, language

    cpdef flow(self, list children, _Flow into)
    @cython.locals(element=Element)
    cpdef child(self, child, _Flow into)
    cpdef list blocks_of(self, list children)
    @cython.locals(tag=str, outer=str)
    cpdef block(self, Element element, _Flow into)
    cpdef add(self, str kind, str text, _Flow into)
    @cython.locals(gathered=str, text=str, lines=list)
    cpdef end_line(self, _Flow into)
    @cython.locals(outer=str)
    cpdef card_link(self, Element element, _Flow into)
    @cython.locals(text=str)
    cpdef write_heading(self, Element element, Py_ssize_t level, _Flow into)
    @cython.locals(text=str)
    cpdef write_term(self, Element element, _Flow into)
    @cython.locals(text=str)
    cpdef write_quote(self, Element element, _Flow into)
    cpdef write_code(self, Element element, _Flow into)
    @cython.locals(cell=Element)
    cpdef write_table(self, Element element, _Flow into)
    @cython.locals(items=list, child=Element, marker=str, text=str)
    cpdef write_list(self, Element element, _Flow into)
    @cython.locals(blocks=list, text=str, box=str)
    cpdef tuple item(self, str marker, Element element)
    @cython.locals(lines=list, child=Element, text=str)
    cpdef write_definitions(self, Element element, _Flow into)
    @cython.locals(parts=list)
    cpdef str one_line(self, list children)
    @cython.locals(element=Element)
    cpdef gather(self, list children, list parts)
    @cython.locals(parts=list)
    cpdef str inside(self, Element element)
    cpdef str text(self, str text)
    @cython.locals(tag=str, inside=str)
    cpdef str inline(self, Element element)
    @cython.locals(url=str, raw=str, text=str, before=str, after=str)
    cpdef str write_link(self, Element element)
    @cython.locals(attributes=dict, alt=str, url=str)
    cpdef str write_image(self, Element element)
    @cython.locals(name=str, value=str)
    cpdef str picture_address(self, dict attributes)
    @cython.locals(text=str)
    cpdef str write_script(self, Element element, str mark)
