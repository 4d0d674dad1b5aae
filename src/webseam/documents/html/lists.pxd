cimport cython
from webseam.documents.html.tree cimport Element

cpdef Py_ssize_t integer(str value, Py_ssize_t default)

@cython.locals(inner=Element)
cpdef str check_box(Element element)
