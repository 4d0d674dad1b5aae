cimport cython
from webseam.documents.html.tree cimport Element

@cython.final
cdef class Base:
    cdef str _folder
    cdef str _here
    cdef str _root
    cdef str _url
    cdef dict _hosts
    cdef dict _known

    cpdef str resolve(self, str href)
    @cython.locals(url=str, cleaned=str)
    cpdef str target(self, str href)
    cdef str _easy(self, str href)
    cdef str _join(self, str href)
    cdef str _host(self, str netloc, str scheme)

@cython.locals(stack=list, element=Element, href=str, url=str, room=Py_ssize_t, found=dict)
cpdef tuple page_links(Element root, Base base)

cdef str _quote(str url)
