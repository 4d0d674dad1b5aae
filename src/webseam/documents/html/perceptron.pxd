cimport cython

cdef double _CLIPPED

@cython.final
cdef class Network:
    cdef public object mean, scale
    cdef public list inputs, outputs, weights, biases

    @cython.locals(
        values="double[::1]", sums="double[::1]", mean="double[::1]", scale="double[::1]", weights="double[::1]",
        biases="double[::1]", width=Py_ssize_t, index=Py_ssize_t, place=Py_ssize_t, layer=Py_ssize_t, layers=Py_ssize_t,
        outputs=Py_ssize_t, inputs=Py_ssize_t, output=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t, value=double,
        one=double, two=double, three=double, four=double, five=double, six=double, seven=double, eight=double,
    )
    cpdef probabilities(self, rows, Py_ssize_t count)

@cython.locals(answers="double[::1]", others="double[::1]", index=Py_ssize_t)
cpdef together(list networks, rows, Py_ssize_t count)
