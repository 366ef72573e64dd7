"""What can be chosen by name keeps its family's promises: each has a class that inherits the family's contract."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from engine.catalog import ALGORITHMS, GAMES, LEARNERS, METHODS

TESTS = Path(__file__).parent


def inheriting(contract: str, files: dict[str, str]) -> list[str]:
    """The texts of the classes that inherit a contract, straight or by a class of the same file."""
    found = []
    for text in files.values():
        heirs = {contract}
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and heirs & {ast.unparse(base) for base in node.bases}:
                heirs.add(node.name)
                found.append(ast.unparse(node))
    return found


@cache
def members(contract: str) -> str:
    """All test classes of a contract, as one text."""
    files = {str(path): path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
    return "\n".join(inheriting(contract, {name: text for name, text in files.items() if contract in text}))


@pytest.mark.parametrize("kind", ALGORITHMS)
def test_every_search_algorithm_is_under_its_contract(kind: str) -> None:
    _, _, name = ALGORITHMS[kind].path.partition(":")
    assert f"algorithm = {name}\n" in members("AlgorithmContract") + "\n"


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_is_under_its_contract(kind: str) -> None:
    assert f"{LEARNERS[kind].config.__name__}(" in members("LearnerContract")


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_around_a_shared_critic_is_under_its_contract(kind: str) -> None:
    assert re.search(rf"method: ClassVar = {{'kind': '{kind}'[,}}]", members("MethodContract"))


@pytest.mark.parametrize("name", GAMES)
def test_every_game_for_agents_is_under_the_contract_of_its_form(name: str) -> None:
    game = GAMES[name]
    contract = "TurnsContract" if game.load()(**game.given).spec.in_turns else "VectorContract"
    assert f"{game.path.partition(':')[2]}(" in members(contract), f"a class that inherits {contract} is missing"


def test_heirs_of_heirs_are_found_and_strangers_are_not() -> None:
    text = "class A(C):\n    x = 1\nclass B(A):\n    x = 2\nclass D:\n    x = 3"
    assert [found[-1] for found in inheriting("C", {"f": text})] == ["1", "2"]
