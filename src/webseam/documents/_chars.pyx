"""What `chars` does in Python, compiled."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND, PyUnicode_New, PyUnicode_Substring
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


cdef inline bint is_invisible(uint32_t code) noexcept:
    if code < 0x7F:
        return code < 0x20 and code not in (0x09, 0x0A, 0x0C, 0x0D)
    if code < 0x200B:
        return (
            code < 0xA0 and code != 0x85
            or code in (0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5)
            or 0x180B <= code <= 0x180F
        )
    if code < 0x10000:
        return (
            code <= 0x200F or 0x202A <= code <= 0x202E or 0x2060 <= code <= 0x206F
            or code in (0x3164, 0xFEFF, 0xFFA0) or 0xFE00 <= code <= 0xFE0F or 0xFFF0 <= code <= 0xFFFB
        )
    return 0x1BCA0 <= code <= 0x1BCA3 or 0x1D173 <= code <= 0x1D17A or 0xE0000 <= code <= 0xE0FFF


cdef bint holds_invisible(const Char* text, Py_ssize_t size) noexcept:
    cdef Py_ssize_t at
    for at in range(size):
        if is_invisible(text[at]):
            return True
    return False


def has_invisible(str text not None):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return holds_invisible[uint8_t](<const uint8_t*>data, len(text))
    if kind == 2:
        return holds_invisible[uint16_t](<const uint16_t*>data, len(text))
    return holds_invisible[uint32_t](<const uint32_t*>data, len(text))


cdef str squeezed(const Char* text, Py_ssize_t size, str whole):
    cdef Py_ssize_t begin = 0, end = size, at, written = 0
    cdef Char* made
    while begin < end and (<Py_UCS4>text[begin]).isspace():
        begin += 1
    while end > begin and (<Py_UCS4>text[end - 1]).isspace():
        end -= 1
    at = begin
    while at < end:  # up to the first white space that is not one space alone; what is last is none
        if (<Py_UCS4>text[at]).isspace() and (
            text[at] != c" " or (at + 1 < end and (<Py_UCS4>text[at + 1]).isspace())
        ):
            break
        at += 1
    else:
        return whole if end - begin == size else PyUnicode_Substring(whole, begin, end)
    made = <Char*>PyMem_Malloc((end - begin) * sizeof(Char))
    if made == NULL:
        raise MemoryError
    try:
        for written in range(at - begin):
            made[written] = text[begin + written]
        written = at - begin
        while at < end:
            if (<Py_UCS4>text[at]).isspace():
                made[written] = c" "
                at += 1
                while at < end and (<Py_UCS4>text[at]).isspace():
                    at += 1
            else:
                made[written] = text[at]
                at += 1
            written += 1
        return PyUnicode_FromKindAndData(sizeof(Char), made, written)
    finally:
        PyMem_Free(made)


cdef enum:
    NOTHING
    LETTER
    DIGIT
    LOW_LINE
    WORD  # a character that is a word by itself


# What was found of each character below U+10000, one more than that; 0 for those that were not asked for.
cdef unsigned char[0x10000] known


cdef inline int said(Py_UCS4 character) noexcept:
    if character < 0x10000 and known[character]:
        return known[character] - 1
    cdef int found = looked_up(character)
    if character < 0x10000:
        known[character] = <unsigned char>(found + 1)
    return found


cdef int looked_up(Py_UCS4 character) noexcept:
    if character < 0x80:
        if c"a" <= character <= c"z" or c"A" <= character <= c"Z":
            return LETTER
        if c"0" <= character <= c"9":
            return DIGIT
        return LOW_LINE if character == c"_" else NOTHING
    if character.isalpha():
        if 0x3040 <= character <= 0xD7AF and (
            character <= 0x30FF or 0x3400 <= character <= 0x4DBF or 0x4E00 <= character <= 0x9FFF or character >= 0xAC00
        ):
            return WORD
        return LETTER
    if character.isdecimal():
        return DIGIT
    return LETTER if character.isdigit() or character.isnumeric() else NOTHING


cdef str lowered(const Char* text, Py_ssize_t begin, Py_ssize_t end, str whole):
    """A part of `whole` in lower case."""
    cdef Py_ssize_t at
    cdef Char character
    cdef str made
    cdef uint8_t* letters
    for at in range(begin, end):
        if text[at] >= 0x80:
            return PyUnicode_Substring(whole, begin, end).lower()
    made = PyUnicode_New(end - begin, 127)
    letters = <uint8_t*>PyUnicode_DATA(made)
    for at in range(begin, end):
        character = text[at]
        letters[at - begin] = <uint8_t>(character | 32 if c"A" <= character <= c"Z" else character)
    return made


cdef tuple words_said(const Char* text, Py_ssize_t size, str whole, Py_ssize_t most):
    cdef Py_ssize_t at = 0, begin, count = 0
    cdef int kind
    cdef list found = []
    while at < size:
        begin = at
        kind = said(text[at])
        at += 1
        if kind == NOTHING:
            continue
        if kind != WORD:
            while at < size and said(text[at]) == kind:
                at += 1
        if count < most:
            found.append(lowered(text, begin, at, whole))
        count += 1
    return found, count


cdef tuple names_said(const Char* text, Py_ssize_t size, str whole, Py_ssize_t most):
    cdef Py_ssize_t at = 0, begin
    cdef str name
    cdef list found = []
    while at < size and len(found) < most:
        begin = at
        while at < size and (c"a" <= text[at] <= c"z" or c"A" <= text[at] <= c"Z"):
            at += 1
            if at < size and c"a" <= text[at - 1] <= c"z" and c"A" <= text[at] <= c"Z":
                break
        if at - begin > 1:
            name = lowered(text, begin, at, whole)
            if name not in found:
                found.append(name)
        elif at == begin:
            at += 1
    return tuple(found)


def squeeze(str text not None):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return squeezed[uint8_t](<const uint8_t*>data, len(text), text)
    if kind == 2:
        return squeezed[uint16_t](<const uint16_t*>data, len(text), text)
    return squeezed[uint32_t](<const uint32_t*>data, len(text), text)


def words(str text not None, Py_ssize_t most):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return words_said[uint8_t](<const uint8_t*>data, len(text), text, most)
    if kind == 2:
        return words_said[uint16_t](<const uint16_t*>data, len(text), text, most)
    return words_said[uint32_t](<const uint32_t*>data, len(text), text, most)


def names(str text not None, Py_ssize_t most):
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    if kind == 1:
        return names_said[uint8_t](<const uint8_t*>data, len(text), text, most)
    if kind == 2:
        return names_said[uint16_t](<const uint16_t*>data, len(text), text, most)
    return names_said[uint32_t](<const uint32_t*>data, len(text), text, most)
