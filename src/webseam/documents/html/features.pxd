cimport cython
from webseam.documents.html.blocks cimport Blocks

cdef double[::1] _LOGS
cdef dict _TAG_PLACE, _LEVEL
cdef frozenset _HEADINGS
cdef Py_ssize_t _OTHER_TAG, _LONG

cdef double _log(Py_ssize_t number) except -1

@cython.final
cdef class _Marks:
    cdef Py_ssize_t punctuation, capitals, digits, wide
    cdef bint bar, copyright, money, dated

    @cython.locals(
        punctuation=Py_ssize_t, capitals=Py_ssize_t, digits=Py_ssize_t, wide=Py_ssize_t, bar=bint, copyright_=bint, money=bint,
        dated=bint, run=Py_ssize_t, number=Py_ssize_t, char=Py_UCS4,
    )
    cdef int count(self, str text) except -1

@cython.locals(
    rows="double[::1]", count=Py_ssize_t, width=Py_ssize_t, base=Py_ssize_t, sides=Py_ssize_t, of_page=Py_ssize_t, tags_from=Py_ssize_t, page_from=Py_ssize_t,
    texts=list, by_name=dict, by_word=dict, block_tags=list, tags=list, link_chars="long long[::1]",
    holders="long long[::1]", parents="long long[::1]", signatures="long long[::1]", contexts=list, depths=list, sizes=list,
    first_words=list, elements=Py_ssize_t, text="long long[::1]", link="long long[::1]", held="long long[::1]",
    index=Py_ssize_t, element=Py_ssize_t, parent=Py_ssize_t, total=Py_ssize_t, least="double[::1]", most="double[::1]",
    summed="double[::1]", own="double[::1]", name=str, low=double, high=double, sum_=double, different=Py_ssize_t, lowest="double[::1]",
    highest="double[::1]", sums="double[::1]", named="long long[::1]", shared=bint, word=str, score=double,
    alike="long long[::1]", alike_text="long long[::1]", alike_link="long long[::1]", prose="double[::1]",
    long_blocks=Py_ssize_t, heading=Py_ssize_t, string=str, size=Py_ssize_t, linked=Py_ssize_t, signature=Py_ssize_t,
    share=double, best=Py_ssize_t, above_best="double[::1]", kinds=dict, page="double[::1]", title_words=frozenset,
    marks=_Marks, seen=dict, section_score=double, section_worst=double, section_from=Py_ssize_t, before=Py_ssize_t,
    holder=Py_ssize_t, words=list, number=Py_ssize_t, worst=double, hits=Py_ssize_t, value=double, first=Py_ssize_t,
    second=Py_ssize_t, third=Py_ssize_t, fifth=Py_ssize_t, same=Py_ssize_t, repeated=Py_ssize_t, in_title=Py_ssize_t,
    last=Py_UCS4, at=Py_ssize_t, is_heading=bint, context=Py_ssize_t, place=Py_ssize_t, other=Py_ssize_t,
    columns="long long[::1]", copied=Py_ssize_t, column=Py_ssize_t, long_text=Py_ssize_t, headings=Py_ssize_t, times=dict,
    long_before=Py_ssize_t, headings_before=Py_ssize_t, met="long long[::1]", open_="long long[::1]", nearest=Py_ssize_t,
    nearest_level=Py_ssize_t, outermost=Py_ssize_t, outermost_level=Py_ssize_t, opened=Py_ssize_t, money=Py_ssize_t,
    dated=Py_ssize_t, asking=Py_ssize_t, wide=Py_ssize_t, level=Py_ssize_t, asks=bint,
)
cpdef features(Blocks blocks, lexicon, str title)
