"""Compile what reads pages: `make` does it, and so does a build of a wheel or an editable install (a hook of hatchling).

The modules are plain Python and run as they are. Where a `.pxd` stands beside one, Cython makes an extension module of it, with
the types that the `.pxd` names; a `.pyx` is compiled too, and has a module in Python that is used where it is not. What is made
stands beside its source, and Python prefers it. Without Cython or a C compiler one line says so, and everything runs as Python:
the same answers, several times slower. `WEBSEAM_PURE=1` does without at will: here, and when Webseam runs.

As a script: compiles what is older than its source; `--clean` takes away what was compiled.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
BUILD = ROOT / "build"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,
    "embedsignature": False,
    "boundscheck": True,
    "wraparound": True,
    "cdivision": False,
}
# The same numbers as Python's: nothing is contracted, reordered or assumed.
ARGUMENTS = {"msvc": ["/O2", "/fp:precise"], "unix": ["-O3", "-g0", "-ffp-contract=off", "-fno-fast-math"]}


class NotCompiledError(Exception):
    """Why there is nothing compiled, in a sentence."""


def sources() -> list[Path]:
    """The modules that are compiled: each `.pyx`, and each `.py` that has a `.pxd`."""
    augmented = [path.with_suffix(".py") for path in SOURCE.rglob("*.pxd") if path.with_suffix(".py").exists()]
    return sorted([*SOURCE.rglob("*.pyx"), *augmented])


def target(source: Path) -> Path:
    """Where the extension module of a source stands."""
    return source.with_name(source.stem + SUFFIX)


def stale() -> list[Path]:
    """What was compiled before its source was changed: Python would run what is no longer written."""
    declared = max((path.stat().st_mtime for path in SOURCE.rglob("*.pxd")), default=0.0)
    return [
        source
        for source in sources()
        if target(source).exists() and target(source).stat().st_mtime < max(source.stat().st_mtime, declared)
    ]


def compile_in_place() -> list[Path]:
    """Compile what has changed, beside its source; the extension modules that are there then. Raises `NotCompiledError`."""
    if os.environ.get("WEBSEAM_PURE"):
        raise NotCompiledError("WEBSEAM_PURE is set")
    try:
        from Cython.Build import cythonize
        from Cython.Compiler.Errors import CompileError as CythonError
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
        from setuptools.errors import BaseError, CCompilerError
    except ImportError as error:
        raise NotCompiledError(f"{error.name or error} is not installed: pip install cython setuptools") from None

    class Build(build_ext):  # type: ignore[misc] # setuptools has no types
        def build_extensions(self) -> None:
            for extension in self.extensions:
                extension.extra_compile_args = ARGUMENTS.get(self.compiler.compiler_type, ARGUMENTS["unix"])
            super().build_extensions()

    modules = sources()
    before = Path.cwd()
    os.chdir(ROOT)  # cythonize mirrors relative paths under its build directory
    try:
        extensions = [
            Extension(".".join(path.relative_to(SOURCE).with_suffix("").parts), [str(path.relative_to(ROOT))])
            for path in modules
        ]
        made = cythonize(  # type: ignore[no-untyped-call]
            extensions, build_dir=str(BUILD / "c"), compiler_directives=DIRECTIVES, quiet=True, include_path=["src"]
        )
        command = Build(Distribution({"name": "webseam", "package_dir": {"": "src"}, "ext_modules": made}))
        command.inplace = True
        command.parallel = os.cpu_count()
        command.build_temp = str(BUILD / "objects")
        command.ensure_finalized()
        command.run()
    except CythonError as error:
        raise SystemExit(f"Cython refuses a module of ours: {error}") from error
    except (BaseError, CCompilerError, OSError) as error:
        raise NotCompiledError(f"there is no C compiler that works: {str(error).splitlines()[0][:100]}") from None
    finally:
        os.chdir(before)
    found = [target(path) for path in modules]
    for path in found:
        path.touch()  # what is compiled is newer than what declares it, also where nothing had to be done
    return found


def not_compiled(reason: str) -> None:
    """Say why, and what it means; what was compiled of other sources than there are now must not run."""
    for source in stale():
        target(source).unlink()
    print(
        f"Webseam is not compiled ({reason}): it gives the same answers, and reads pages several times slower.", file=sys.stderr
    )


class CompiledHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls for a wheel and for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel with extension modules is for this platform and Python alone."""
        try:
            made = compile_in_place()
        except NotCompiledError as reason:
            not_compiled(str(reason))
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if version != "editable":
            build_data["force_include"].update({str(path): str(path.relative_to(SOURCE)) for path in made})


def main() -> int:
    """Compile, or with `--clean` take away what was compiled."""
    if "--clean" in sys.argv[1:]:
        for path in [*SOURCE.rglob("*.so"), *SOURCE.rglob("*.pyd")]:
            path.unlink()
        return 0
    try:
        print(f"{len(compile_in_place())} modules are compiled.")
    except NotCompiledError as reason:
        not_compiled(str(reason))
    return 0


if __name__ == "__main__":
    sys.exit(main())
