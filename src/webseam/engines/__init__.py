"""The engines: search vendors, one file each, run through a door they are handed."""
