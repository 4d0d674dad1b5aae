"""bench: run one benchmark or all of them: `python bench/run.py NAME|all`.

A benchmark is a file here with a `main()` that measures us and the peers in one go, prints the raw figures of every side, and
ends with lines `figure NAME VALUE`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """Every benchmark there is."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")


def run(name: str) -> int:
    """Run one in this process; gives what its `main` gives as exit code."""
    print(f"== {name}", flush=True)
    spec = importlib.util.spec_from_file_location(f"bench_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return int(module.main() or 0)


def main(argv: list[str]) -> int:
    known = names()
    wanted = known if argv == ["all"] else argv
    if not wanted or not set(wanted) <= set(known):
        print(f"Say which benchmark: {', '.join(known)}, or all.", file=sys.stderr)
        return 2
    return max(run(name) for name in wanted)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
