cimport cython
from webseam.documents.html.blocks cimport Blocks
from webseam.documents.html.features cimport features

cdef frozenset _HEADINGS
cdef Py_ssize_t _SIDES
cdef double _NOBODY

@cython.locals(
    likely="double[::1]", order=list, gold=double, found=double, size=Py_ssize_t, best=double, kept=Py_ssize_t,
    expected=double, place=Py_ssize_t, index=Py_ssize_t, least=Py_ssize_t, odds=double,
)
cpdef tuple choose(probabilities, list words, double caution=*)

@cython.locals(
    rows="double[::1]", alone="double[::1]", count=Py_ssize_t, parents="long long[::1]", holders="long long[::1]", words=list,
    signatures="long long[::1]", tags=list, elements=Py_ssize_t, weight="double[::1]", weighed="double[::1]",
    alike="double[::1]", alike_weighed="double[::1]", sizes="double[::1]", sums="double[::1]", highest=double,
    index=Py_ssize_t, size=double, likely=double, element=Py_ssize_t, signature=Py_ssize_t, threshold=double, mean=double,
    until="double[::1]", onward="double[::1]", begin=Py_ssize_t, end=Py_ssize_t, headed=double, section=double,
    at=Py_ssize_t, place=Py_ssize_t, other=Py_ssize_t, near=Py_ssize_t, far=Py_ssize_t,
)
cpdef surroundings(Blocks blocks, given)
