"""Webseam: the seam between AI agents and the web. Import from the module that explains itself."""

__version__ = "0.1.0"
