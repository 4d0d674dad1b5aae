cimport cython
from webseam.documents.html.blocks cimport Blocks, words_of

cdef list _LOGS
cdef dict _TAG_PLACE
cdef Py_ssize_t _OTHER_TAG, _WORDS_LOOKED_AT, _LONG
cdef str _PUNCTUATION

cdef double _log(Py_ssize_t number) except -1

@cython.locals(punctuation=Py_ssize_t, capitals=Py_ssize_t, digits=Py_ssize_t, char=Py_UCS4)
cdef tuple _marks(str text)

@cython.locals(
    rows="double[::1]", count=Py_ssize_t, width=Py_ssize_t, base=Py_ssize_t, tags_from=Py_ssize_t, page_from=Py_ssize_t, contexts=list,
    block_tags=list, depths=list, texts=list, link_chars=list, holders=list, parents=list, tags=list, names=list,
    by_name=dict, by_word=dict, elements=Py_ssize_t, text=list, link=list, held=list, index=Py_ssize_t, string=str,
    size=Py_ssize_t, linked=Py_ssize_t, element=Py_ssize_t, total=Py_ssize_t, least=list, most=list, summed=list, own=list,
    signatures=list, kinds_of_block=Py_ssize_t, parent=Py_ssize_t, low=double, high=double, sum_=double, signature=Py_ssize_t, itself=double,
    score=double, alike=list, alike_text=list, alike_link=list, prose=list, long_blocks=Py_ssize_t, heading=Py_ssize_t,
    share=double, best=Py_ssize_t, above_best=list, kinds=dict, page=tuple, title_words=frozenset, seen=dict,
    section_score=double, section_worst=double, section_from=Py_ssize_t, before=Py_ssize_t, holder=Py_ssize_t, words=list,
    number=Py_ssize_t, worst=double, hits=Py_ssize_t, value=double, first=Py_ssize_t, second=Py_ssize_t, third=Py_ssize_t,
    fifth=Py_ssize_t, same=Py_ssize_t, repeated=Py_ssize_t, in_title=Py_ssize_t, last=Py_UCS4, at=Py_ssize_t,
    punctuation=Py_ssize_t, capitals=Py_ssize_t, digits=Py_ssize_t, context=Py_ssize_t, place=Py_ssize_t, other=Py_ssize_t,
    side=Py_ssize_t, column=Py_ssize_t,
)
cpdef features(Blocks blocks, lexicon, str title)
