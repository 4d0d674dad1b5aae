"""What people do: choose an engine, set a key, allow an address, fill the private index. Commands and pages are thin."""
