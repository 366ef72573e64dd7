"""No machine code outlives the text that it was compiled from."""

from __future__ import annotations

import ast
from pathlib import Path

from engine import compiling

COMPILERS = {"njit", "entry", "helper", "jit", "compiled"}
NUMBERS = {"games/herobattle/layout.py"}
"""Nothing in them is compiled, but what is compiled holds their numbers."""


def compiles(path: Path) -> bool:
    """Whether a file has functions that are compiled, or says how."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    decorated = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for each in node.decorator_list
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return bool((decorated | called) & COMPILERS)


def test_every_file_with_compiled_functions_is_watched() -> None:
    found = {str(p.relative_to(compiling.ENGINE)) for p in compiling.ENGINE.rglob("*.py") if compiles(p)}
    assert found | NUMBERS == set(compiling.SOURCES)


def engine_in(folder: Path) -> Path:
    """A copy of the sources, with machine code beside two of them."""
    for name in compiling.SOURCES:
        file = folder / name
        (file.parent / "__pycache__").mkdir(parents=True, exist_ok=True)
        file.write_bytes((compiling.ENGINE / name).read_bytes())
    for file in code_in(folder):
        file.touch()
    return folder


def code_in(folder: Path) -> list[Path]:
    return [
        folder / "games" / "pong" / "__pycache__" / "kernel.step-1.py311.nbi",
        folder / "__pycache__" / "splitmix.mix-1.py311.1.nbc",
    ]


def test_what_was_compiled_is_thrown_away_once_any_of_its_files_has_changed(tmp_path: Path) -> None:
    engine = engine_in(tmp_path)
    compiling.forget_outdated(engine)
    assert not any(file.exists() for file in code_in(engine))

    for file in code_in(engine):
        file.touch()
    compiling.forget_outdated(engine)
    assert all(file.exists() for file in code_in(engine))

    changed = engine / "splitmix.py"
    changed.write_text(changed.read_text() + "\n")
    compiling.forget_outdated(engine)
    assert not any(file.exists() for file in code_in(engine))


def test_where_no_mark_can_be_left_everything_is_compiled_anew_and_nothing_fails(tmp_path: Path) -> None:
    engine = engine_in(tmp_path)
    (engine / "__pycache__" / "compiled-from").mkdir()
    compiling.forget_outdated(engine)
    assert not any(file.exists() for file in code_in(engine))
