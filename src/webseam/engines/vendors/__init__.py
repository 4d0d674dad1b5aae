"""The vendors, one file each: facts, request, results."""
