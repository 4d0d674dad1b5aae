"""The command line."""


def main() -> int:
    """Run one command."""
    return 0
