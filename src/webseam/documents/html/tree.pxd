cimport cython

@cython.final
cdef class Element:
    cdef public str tag
    cdef public dict attrs
    cdef public list children
    cdef public bint blocky

cpdef bint is_block(str tag)

@cython.locals(elements=list, parents=list, stack=list, above=list, element=Element, child=object, index=Py_ssize_t, parent=Py_ssize_t, place=Py_ssize_t)
cpdef tuple preorder(Element root)

@cython.locals(parts=list, stack=list, element=Element)
cpdef str text_of(Element element)

@cython.locals(stack=list, element=Element)
cpdef first(Element root, str tag)
