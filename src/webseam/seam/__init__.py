"""The seam: what an engine is (`contract`), what it can do (`facts`), how it fails (`failures`)."""
