"""What `chars` does in Python, compiled."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t


cdef inline bint is_space(Char character) noexcept:
    if character > 0x20:
        if Char is uint8_t:
            return character == 0x85
        else:
            return character == 0x85 or character == 0x2028 or character == 0x2029
    return character in (c" ", c"\t", c"\n", c"\f", c"\r")


cdef str collapsed(const Char* text, Py_ssize_t size, str whole):
    cdef Py_ssize_t at = 0, written
    cdef Char* made
    while at < size:  # up to the first white space that is not one space alone
        if is_space(text[at]) and (text[at] != c" " or (at + 1 < size and is_space(text[at + 1]))):
            break
        at += 1
    else:
        return whole
    made = <Char*>PyMem_Malloc(size * sizeof(Char))
    if made == NULL:
        raise MemoryError
    try:
        for written in range(at):
            made[written] = text[written]
        written = at
        while at < size:
            if is_space(text[at]):
                made[written] = c" "
                at += 1
                while at < size and is_space(text[at]):
                    at += 1
            else:
                made[written] = text[at]
                at += 1
            written += 1
        return PyUnicode_FromKindAndData(sizeof(Char), made, written)
    finally:
        PyMem_Free(made)


cdef bint marked(const Char* text, Py_ssize_t size) noexcept:
    cdef Py_ssize_t at
    for at in range(size):
        if text[at] in (c"`", c"~", c"*", c"<", c"]", c"_", c"["):
            return True
    return False


def collapse(str text not None):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return collapsed[uint8_t](<const uint8_t*>data, len(text), text)
    if kind == 2:
        return collapsed[uint16_t](<const uint16_t*>data, len(text), text)
    return collapsed[uint32_t](<const uint32_t*>data, len(text), text)


def has_marks(str text not None):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return marked[uint8_t](<const uint8_t*>data, len(text))
    if kind == 2:
        return marked[uint16_t](<const uint16_t*>data, len(text))
    return marked[uint32_t](<const uint32_t*>data, len(text))
