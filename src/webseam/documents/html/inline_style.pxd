cpdef dict declarations(str style)
