cimport cython
from webseam.documents.html.tree cimport Element

@cython.locals(attributes=dict, name=str, names=str)
cpdef str named_language(Element element)

@cython.locals(inner=Element)
cpdef str language_of(Element pre)

cpdef str code_span(str text)
