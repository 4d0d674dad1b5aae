"""`load_in_python.load`, compiled: the same loop, which reads characters where that one searches, and knows names by their hash.

Every place that is read lies in `html`: each loop asks for its end, and the character behind the last one of a string is a NUL.
What is rare (references, values that are cut, scripts that look like comments, names of no table) is left to the functions of
`load_in_python`.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_Substring
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from webseam.documents.html.hidden cimport hidden_by
from webseam.documents.html.tree cimport Element

from webseam.documents.html.concealment import Concealment
from webseam.documents.html.hidden import Styles
from webseam.documents.html.kept import (
    CONTROLS, KEPT_ATTRIBUTES, LINKED_CHARS, MAX_LINKED_DATA, SPECIAL, SPLIT_ATTRIBUTES, VALUE_CHARS, Seen, is_linked_data,
    parsed, tex_of_script,
)
from webseam.documents.html.load_in_python import RAW, VERBATIM, VOID, WITH_NEWLINE, attribute_value, closed_by, unescaped
from webseam.documents.html.tree import BLOCK, MAX_DEPTH, MAX_ELEMENTS, is_block

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    IS_VOID = 1
    IS_RAW = 2
    IS_SPECIAL = 4
    IS_BLOCK = 8
    IS_SPLIT = 16
    IS_HIDING = 32
    IS_CLASS = 64
    IS_CONTROL = 128
    WITH_LINE_FEED = 256
    IS_MATH = 512
    IS_TEMPLATE = 1024
    IS_NOEMBED = 2048
    IS_VERBATIM = 4096
    TABLE = 1024
    LONGEST = 24

cdef struct Name:
    int flags
    int size
    unsigned char[LONGEST] letters

# Two tables of names, by hash, with the next free place for those of one hash; neither is full, so that a search ends.
cdef Name[TABLE] tag_table
cdef Name[TABLE] attribute_table
cdef list tag_names = [None] * TABLE
cdef list attribute_names = [None] * TABLE

cdef Py_ssize_t max_depth = MAX_DEPTH
cdef Py_ssize_t max_elements = MAX_ELEMENTS
cdef Py_ssize_t value_chars = VALUE_CHARS
cdef object no_concealment = Concealment.NONE


cdef unsigned int hash_of(const Char* letters, Py_ssize_t size) noexcept:
    cdef unsigned int found = <unsigned int>size
    cdef Py_ssize_t place
    for place in range(size):
        found = found * 31 + <unsigned int>letters[place]
    return found ^ (found >> 10)


cdef int place_of(const Name* table, const Char* letters, Py_ssize_t size) noexcept:
    """Where a name stands in a table; -1 when it does not."""
    cdef Py_ssize_t letter
    cdef unsigned int place
    if size > LONGEST:
        return -1
    place = hash_of(letters, size) % TABLE
    while table[place].size:
        if table[place].size == size:
            for letter in range(size):
                if table[place].letters[letter] != letters[letter]:
                    break
            else:
                return <int>place
        place = (place + 1) % TABLE
    return -1


cdef int put(Name* table, list names, str name, int flags) except -1:
    cdef bytes letters = name.encode("ascii")
    cdef const unsigned char* start = letters
    cdef Py_ssize_t size = len(letters), letter
    cdef unsigned int place = hash_of(start, size) % TABLE
    while table[place].size:
        place = (place + 1) % TABLE
    assert 0 < size <= LONGEST
    table[place].size = <int>size
    table[place].flags = flags
    for letter in range(size):
        table[place].letters[letter] = start[letter]
    names[place] = name
    return 0


cdef int flags_of(str tag):
    return (
        (IS_VOID if tag in VOID else 0) | (IS_RAW if tag in RAW else 0) | (IS_SPECIAL if tag in SPECIAL else 0)
        | (IS_BLOCK if is_block(tag) else 0) | (WITH_LINE_FEED if tag in WITH_NEWLINE else 0) | (IS_MATH if tag == "math" else 0)
        | (IS_TEMPLATE if tag == "template" else 0) | (IS_NOEMBED if tag == "noembed" else 0)
        | (IS_VERBATIM if tag in VERBATIM else 0)
    )


_INLINE = {
    "a", "abbr", "annotation", "b", "big", "button", "caption", "cite", "code", "col", "colgroup", "del", "dfn", "em", "font",
    "head", "i", "ins", "kbd", "label", "map", "mark", "math", "mi", "mn", "mo", "mrow", "noscript", "path", "picture", "g",
    "q", "rt", "ruby", "s", "samp", "semantics", "slot", "small", "span", "strike", "strong", "sub", "sup", "time", "title",
    "tt", "u", "use", "var",
}
_HIDING = {"aria-hidden", "hidden", "popover", "style"}  # what `hidden_by` asks for, besides the class
for _name in sorted(VOID | RAW | SPECIAL | BLOCK | _INLINE):
    put(tag_table, tag_names, _name, flags_of(_name))
for _name in sorted(KEPT_ATTRIBUTES):
    put(
        attribute_table, attribute_names, _name,
        (IS_SPLIT if _name in SPLIT_ATTRIBUTES else 0) | (IS_HIDING if _name in _HIDING else 0)
        | (IS_CLASS if _name == "class" else 0) | (IS_CONTROL if _name in CONTROLS or _name == "aria-controls" else 0)
    )


cdef str math = <str>tag_names[place_of(tag_table, <const unsigned char*>b"math", 4)]


cdef Element made(str tag, dict attributes, bint blocky):
    cdef Element element = Element.__new__(Element)
    element.tag = tag
    element.attrs = attributes
    element.children = []
    element.blocky = blocky
    return element


cdef bint begins(const Char* text, Py_ssize_t at, Py_ssize_t size, const char* lower, Py_ssize_t length) noexcept:
    """Whether `lower` stands at a place, in small letters or capitals."""
    cdef Py_ssize_t place
    if size - at < length:
        return False
    for place in range(length):
        if (text[at + place] | 32 if c"A" <= text[at + place] <= c"Z" else text[at + place]) != <unsigned char>lower[place]:
            return False
    return True


cdef bint ends_name(const Char* text, Py_ssize_t at, Py_ssize_t size) noexcept:
    return at < size and text[at] in (c"\t", c"\n", c"\f", c"\r", c" ", c"/", c">")


cdef Py_ssize_t end_of_script(const Char* text, Py_ssize_t at, Py_ssize_t size) noexcept:
    """As the function of that name in `load_in_python`; -1 when the page ended in the script."""
    cdef bint escaped = False, doubly = False
    cdef Py_ssize_t start
    while at < size:
        if text[at] == c"<":
            if begins(text, at, size, "<!--", 4):
                at += 4
                start = at
                while at < size and text[at] == c"-":
                    at += 1
                if at < size and text[at] == c">":
                    at += 1
                else:
                    at = start
                    escaped = True
                continue
            if begins(text, at, size, "</script", 8) and ends_name(text, at + 8, size):
                if not doubly:
                    return at
                doubly = False
                at += 8
                continue
            if begins(text, at, size, "<script", 7) and ends_name(text, at + 7, size):
                doubly = escaped
                at += 7
                continue
        elif text[at] == c"-" and begins(text, at, size, "-->", 3):
            escaped = doubly = False
            at += 3
            continue
        at += 1
    return -1


cdef Py_ssize_t end_of_raw(const Char* text, Py_ssize_t at, Py_ssize_t size, str html, str tag):
    """Where the end tag of an element stands whose text is written as it is."""
    cdef str name = f"</{tag}>"
    cdef Py_ssize_t end = -1
    if tag == "script":
        end = end_of_script(text, at, size)
    elif tag == "plaintext":
        end = html.rfind(name, at)
    if end < 0:
        end = html.find(name, at)
    return end if end >= 0 else size


cdef object walk(const Char* text, Py_ssize_t size, str html, bint cut, bint newline_added, bint raw_in_math):
    cdef Element root = made("html", {}, True)
    cdef Element element = None, inner = None
    cdef list names = [], into = [], elements = [root], parents = [-1], ends = [1]
    cdef list linked = []
    cdef dict concealed = {}
    cdef set controlled = set()
    cdef list numbers = []
    cdef Py_ssize_t number = 0
    cdef Py_ssize_t depth = 0, seen = 0, in_math = 0, verbatim = 0, at = 0, start, end, closed, opened = 0, named
    cdef int known, flags, of_name = 0
    cdef bint references, comment, split, is_template, hides, controls, blank = False
    cdef Char mark
    cdef str tag, name, value
    cdef dict attributes
    cdef object styles = Styles()
    while at < size:
        start = at
        references = False
        while at < size and text[at] != c"<":
            if text[at] == c"&":
                references = True
            at += 1
        if at >= size:
            break
        if at > start and element is not None:
            if not verbatim and is_blank(&text[start], at - start):
                blank = True
            else:
                if blank:
                    blank = False
                    add_space(element)
                value = PyUnicode_Substring(html, start, at)
                element.children.append(unescaped(value) if references else value)
        at += 1
        if at >= size:
            break
        mark = text[at]
        start = at + 3
        if mark == c"/":
            at += 1
            start = at
            while at < size and text[at] != c">":
                at += 1
            if at >= size or not opened:
                break
            known = place_of(tag_table, &text[start], at - start)
            tag = <str>tag_names[known] if known >= 0 else PyUnicode_Substring(html, start, at)
            at += 1
            if blank:
                blank = False
                if not element.blocky:
                    add_space(element)
            closed = opened - 1
            if names[closed] is not tag and names[closed] != tag:
                closed = closed_by(tag, names)
            while opened > closed:
                tag = <str>names.pop()
                if tag is math:
                    in_math -= 1
                elif tag in VERBATIM:
                    verbatim -= 1
                opened -= 1
                inner = <Element>into.pop()
                number = numbers.pop()
                element = <Element>into[opened - 1] if opened else None
                if inner is not None and element is not None and inner is not element:
                    depth -= 1
                    ends[number] = len(elements)
                    if inner.blocky:
                        element.blocky = True
            if not opened:
                break
            continue
        if mark == c"!" or mark == c"?":
            comment = at + 2 < size and text[at] == c"!" and text[at + 1] == c"-" and text[at + 2] == c"-"
            at += 3 if comment else 0
            while at < size and not (
                text[at] == c">" and (not comment or (text[at - 1] == c"-" and text[at - 2] == c"-" and at - 2 >= start))
            ):
                at += 1
            at += 1
            continue

        start = at
        while at < size and text[at] != c">" and text[at] != c" ":
            at += 1
        if at >= size:
            break
        known = place_of(tag_table, &text[start], at - start)
        if known >= 0:
            tag = <str>tag_names[known]
            flags = tag_table[known].flags
        else:
            tag = PyUnicode_Substring(html, start, at)
            flags = flags_of(tag)
        named = start
        attributes = {}
        hides = controls = False
        is_template = (flags & IS_TEMPLATE) != 0
        while at < size and text[at] == c" ":
            at += 1
            start = at
            at += 1  # a name may begin with "="
            while at < size and text[at] != c"=":
                at += 1
            if at >= size:
                break
            if is_template:
                name = PyUnicode_Substring(html, start, at)
                known = 0 if name == "shadowrootmode" else -1
                split = False
            else:
                known = place_of(attribute_table, &text[start], at - start)
                if known >= 0:
                    name = <str>attribute_names[known]
                    split = (attribute_table[known].flags & IS_SPLIT) != 0
                    of_name = attribute_table[known].flags
                    hides |= (of_name & IS_HIDING) != 0
                    controls |= (of_name & IS_CONTROL) != 0
            at += 2
            start = at
            if known < 0:
                while at < size and text[at] != c'"':
                    at += 1
            else:
                references = False
                while at < size and text[at] != c'"':
                    if text[at] == c"&" or (split and is_space(text[at])):
                        references = True
                    at += 1
            if at >= size:
                break
            if known >= 0:
                if of_name & IS_CLASS:
                    hides |= may_speak(&text[start], at - start)
                if references or at - start > value_chars:
                    if split and at - start <= value_chars and is_single_spaced(&text[start], at - start):
                        attributes[name] = PyUnicode_Substring(html, start, at)
                    else:
                        attributes[name] = attribute_value(name, html, start, at)
                else:
                    attributes[name] = PyUnicode_Substring(html, start, at)
            at += 1
        if at >= size and html.find(">", named) < 0:
            break  # a tag that does not end
        at += 1

        if flags & IS_RAW and in_math and not raw_in_math:
            flags &= ~IS_RAW
        if blank:
            blank = False
            if not flags & IS_BLOCK:
                add_space(element)
        number = numbers[opened - 1] if opened else 0
        if element is None:
            inner = None
            if not opened:
                root.attrs = attributes
                inner = root
                depth = 1
        else:
            seen += 1
            if seen > max_elements:
                cut = True
                break
            inner = None
            if flags & IS_SPECIAL:
                if is_template and attributes:
                    inner = element
                elif flags & IS_RAW and tag == "script" and "type" in attributes:
                    value = attributes["type"]
                    if is_linked_data(value):
                        end = end_of_raw(text, at, size, html, tag)
                        if end - at <= LINKED_CHARS and len(linked) < MAX_LINKED_DATA:
                            linked.append(PyUnicode_Substring(html, at, end))
                    elif value.startswith("math/tex"):
                        formula = tex_of_script(attributes["type"], html[at : end_of_raw(text, at, size, html, tag)])
                        element.children.append(formula)
                        elements.append(formula)
                        parents.append(number)
                        ends.append(len(elements))
            elif depth < max_depth:
                inner = made(tag, attributes, flags & IS_BLOCK)
                element.children.append(inner)
                parents.append(number)
                number = len(elements)
                elements.append(inner)
                ends.append(number + 1)
                if hides or flags & IS_NOEMBED:
                    how = hidden_by(inner, styles)
                    if how is not no_concealment:
                        concealed[number] = how
                if controls:
                    note_controls(attributes, controlled)
                if not flags & IS_VOID:
                    depth += 1
                elif inner.blocky:
                    element.blocky = True
            elif hidden_by(made(tag, attributes, flags & IS_BLOCK), styles) is no_concealment:
                inner = element
                if flags & IS_BLOCK:
                    element.children.append("\n")
        if flags & IS_VOID:
            continue
        names.append(tag)
        into.append(inner)
        numbers.append(number)
        opened += 1
        element = inner
        if flags & IS_MATH:
            in_math += 1
        elif flags & IS_VERBATIM:
            verbatim += 1
        if flags & IS_RAW:
            end = end_of_raw(text, at, size, html, tag)
            if end > at and element is not None:
                element.children.append(PyUnicode_Substring(html, at, end))
            at = end
        elif newline_added and flags & WITH_LINE_FEED and at < size and text[at] == c"\n":
            at += 1

    while opened > 1:
        opened -= 1
        inner = <Element>into[opened]
        ends[numbers[opened]] = len(elements)
        element = <Element>into[opened - 1]
        if inner is not None and element is not None and inner.blocky:
            element.blocky = True
    ends[0] = len(elements)
    return parsed(root, Seen(elements, parents, ends, concealed, controlled, linked), cut=cut, escapes=holds_escapes(text, size))


cdef int note_controls(dict attributes, set controlled) except -1:
    """What an element that has one of `CONTROLS` or `aria-controls` leads to."""
    cdef str name, value
    for name, value in attributes.items():
        if name == "aria-controls":
            controlled.update(value.split())
        elif value.startswith("#") and name in CONTROLS:
            controlled.add(value[1:])
    return 0


cdef bint may_speak(const Char* text, Py_ssize_t size) noexcept:
    """Whether a class may be one that says "for screen readers": each of those has one of these pairs of letters."""
    cdef Py_ssize_t place
    cdef Char before = 0, letter
    for place in range(size):
        letter = text[place] | 32
        if (
            (letter == c"r" and (before == c"s" or before == c"c")) or (letter == c"d" and before == c"d")
            or (letter == c"v" and before == c"n")
        ):
            return True
        before = letter
    return False


cdef bint holds_escapes(const Char* text, Py_ssize_t size) noexcept:
    """Whether there is ESC or CSI: no branch, so that a compiler looks at many at once."""
    cdef Py_ssize_t place
    cdef Char found = 0
    for place in range(size):
        found |= (text[place] == 0x1B) | (text[place] == 0x9B)
    return found != 0


cdef bint is_blank(const Char* text, Py_ssize_t size) noexcept:
    cdef Py_ssize_t place
    for place in range(size):
        if text[place] not in (c" ", c"\n", c"\t", c"\r", c"\f"):
            return False
    return True


cdef int add_space(Element element) except -1:
    """As `load_in_python._add_space`."""
    cdef list children = element.children
    if not children:
        if element.blocky:
            return 0
    else:
        last = children[len(children) - 1]
        if type(last) is not str and (<Element>last).blocky:
            return 0
    children.append(" ")
    return 0


cdef bint is_space(Char character) noexcept:
    """What may be white space: to be looked at closely."""
    return character <= 32 or character >= 127


cdef bint is_single_spaced(const Char* text, Py_ssize_t size) noexcept:
    """Whether tokens stand with one space between them, and nothing else that might be a space or a reference."""
    cdef Py_ssize_t place
    cdef bint before = True
    for place in range(size):
        if text[place] == c" ":
            if before:
                return False
            before = True
        elif is_space(text[place]) or text[place] == c"&":
            return False
        else:
            before = False
    return not (before and size)


def load(str html not None, bint cut, bint newline_added, bint raw_in_math):
    """As `load_in_python.load`."""
    cdef int kind = PyUnicode_KIND(html)
    cdef void* data = PyUnicode_DATA(html)
    if kind == 1:
        return walk[uint8_t](<const uint8_t*>data, len(html), html, cut, newline_added, raw_in_math)
    if kind == 2:
        return walk[uint16_t](<const uint16_t*>data, len(html), html, cut, newline_added, raw_in_math)
    return walk[uint32_t](<const uint32_t*>data, len(html), html, cut, newline_added, raw_in_math)
