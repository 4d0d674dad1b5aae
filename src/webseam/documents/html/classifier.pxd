cimport cython
from webseam.documents.html.blocks cimport Blocks
from webseam.documents.html.features cimport features

@cython.final
cdef class Network:
    cdef public object mean, scale
    cdef public list inputs, outputs, weights, biases

    @cython.locals(
        data="double[::1]", result="double[::1]", mean="double[::1]", scale="double[::1]", weights="double[::1]",
        biases="double[::1]", values="double[::1]", sums="double[::1]", width=Py_ssize_t, index=Py_ssize_t, place=Py_ssize_t,
        layer=Py_ssize_t, layers=Py_ssize_t, outputs=Py_ssize_t, inputs=Py_ssize_t, output=Py_ssize_t, at=Py_ssize_t,
        value=double, last=double,
    )
    cpdef probabilities(self, rows, Py_ssize_t count)

@cython.locals(
    likely="double[::1]", order=list, gold=double, found=double, size=Py_ssize_t, best=double, kept=Py_ssize_t,
    expected=double, place=Py_ssize_t, index=Py_ssize_t,
)
cpdef tuple choose(probabilities, list words)

@cython.locals(
    rows="double[::1]", alone="double[::1]", count=Py_ssize_t, parents=list, holders=list, words=list, signatures=list,
    elements=Py_ssize_t, weight=list, weighed=list, kinds=Py_ssize_t, alike=list, alike_weighed=list, sizes="double[::1]",
    sums="double[::1]", highest=double, index=Py_ssize_t, size=double, likely=double, element=Py_ssize_t,
    signature=Py_ssize_t, threshold=double, mean=double, until="double[::1]", onward="double[::1]", begin=Py_ssize_t,
    end=Py_ssize_t, headed=double, section=double, at=Py_ssize_t, place=Py_ssize_t, side=Py_ssize_t, other=Py_ssize_t,
    near=Py_ssize_t, far=Py_ssize_t,
)
cpdef surroundings(Blocks blocks, given)
