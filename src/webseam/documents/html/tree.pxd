cimport cython

@cython.final
cdef class Element:
    cdef public str tag
    cdef public dict attrs
    cdef public list children
    cdef public bint blocky

cpdef bint is_block(str tag)

@cython.locals(elements=list, parents=list)
cpdef tuple preorder(Element root)

@cython.locals(index=Py_ssize_t)
cdef int _number(Element element, Py_ssize_t parent, list elements, list parents) except -1

@cython.locals(parts=list)
cpdef str text_of(Element element)

cdef int _gather(Element element, list parts) except -1

@cython.locals(stack=list, element=Element)
cpdef first(Element root, str tag)
