"""What is kept for an account: choices, settings, secrets at rest, exceptions, sources of the private index."""
