"""Words that were given up stay given up: a reader meets the field's terms, and each word with one meaning."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.catalog import AgentGame, StudyKind
from engine.catalog.entry import Entry

ROOT = Path(__file__).parents[1]
PYTHON = tuple(p for top in ("engine", "webapp", "workers", "deploy") for p in sorted((ROOT / top).rglob("*.py")))
SCRIPTS = tuple(p for p in sorted((ROOT / "static" / "js").rglob("*.js")) if "vendor" not in p.parts)
RETIRED = {
    "brood": "player space",
    "workshop": "training store",
    "keeper": "lease",
    "crew": "sampler pool",
    "fleet": "sampler pool",
    "leash": "reaper",
    "pulse": "progress throttle, heartbeat",
    "fitting": "compatibility, learner factory",
    "paces": "throughput",
    "stamps": "glyphs",
    "barren": "stalled attempts",
    "wish": "command",
    "untold": "what is unknown",
    "unsaid": "what is pending",
}
"""What a name no longer contains, and what it says instead."""
CLASSES = {
    "told": "what it is: a text, a row, what is known",
    "telling": "sentences",
    "whole": "forward all, digits",
    "promises": "contract checks",
    "listed": "fixed list, what a list has",
}
"""Words that no module and no public class is called by alone, and what to say instead; code may use them as verbs."""
SEVERAL = {
    "Limits": "of whom: of a worker, a simulator, a screen",
    "Plan": "totals, a floor plan, a search’s plan",
    "Pace": "of a lesson; the size of a part; how far a job is",
    "Sample": "of what: random lineups, sampled actions",
    "Span": "of what: of a formula",
    "Cell": "of what: a matchup, a map, a file; a text with its range",
    "Found": "what was found: an object, exploits, counts; on pages the line of a kind of study",
    "Order": "to whom: a sampler, an agent, an actor, a reader; in battles an order to units",
    "Row": "of what: a finding, an agent, a start, a patch",
    "Reading": "what was read: an analysis, a table, a sheet’s contents; on pages the result of a kind of study",
    "Played": "what: a stage, battles, episodes; the results of a replay",
    "Line": "of what: of a chart, of what pieces are worth; what a program dials",
}
"""Names that stood for several things: no two modules have a class of that name."""
MOST_OF_A_NAME = 3
"""Modules that may have a class of one name."""
ALIKE = {"Words"}
"""Names of classes that are the same thing in each module: what the command line says of a kind of study."""
MODULES = {
    "sampling": "random_lineups, sampler_factory, training_speed",
    "utils": "what they are for",
    "helpers": "what they are for",
    "common": "what it is that is shared",
    "drawn": "views, samples, moments",
}
"""What no module is called, as it would name several things, and what some say instead."""

NOTHING_IS_TOLD = ("engine", "webapp", "workers", "deploy")
"""Folders with no name that has the word told in it."""
STORED = {"summary__told__gt"}
"""What reads a key that was stored under that name."""


@cache
def tree(path: Path) -> ast.Module:
    """A module as Python reads it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _no_trees_later() -> Iterator[None]:
    """Each module is read once for all tests of this file, and nothing of it burdens those of other files."""
    yield
    tree.cache_clear()


@cache
def parts(name: str) -> frozenset[str]:
    """The words that a name in snake or camel case is made of."""
    return frozenset(re.findall(r"[a-z]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()))


def names(path: Path) -> Iterator[str]:
    """What a module defines: itself, its classes, functions, arguments and variables."""
    yield path.stem
    for node in ast.walk(tree(path)):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr


def names_in_script(path: Path) -> set[str]:
    """All names in a script: its own, and what its code is made of, without comments and texts."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
    return {
        path.stem,
        *re.findall(r"[A-Za-z_$][\w$]*", re.sub(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""", "''", code)),
    }


def test_the_words_of_a_name_are_found() -> None:
    assert parts("LeashedProcess_ofPulse2") == {"leashed", "process", "of", "pulse"}
    assert retired("check_wishes") == {"wish"}
    assert retired("TheCrew") == {"crew"}
    assert retired("grassy_crewel") == set()


FORMS = {form: word for word in RETIRED for form in (word, f"{word}s", f"{word}es")}
"""Each retired word by how it is written, as one and as several."""


@cache
def retired(name: str) -> frozenset[str]:
    """The retired words that a name holds, each as it is or as several."""
    return frozenset(FORMS[part] for part in parts(name) & FORMS.keys())


def given_up(path: Path) -> dict[str, str]:
    """The names in a file that hold a retired word, each with the word to write instead."""
    found = names(path) if path.suffix == ".py" else names_in_script(path)
    return {name: RETIRED[word] for name in found for word in retired(name)}


def test_no_name_has_a_word_that_was_given_up() -> None:
    files = [*(path for path in PYTHON if "migrations" not in path.parts), *SCRIPTS]
    found = {str(path.relative_to(ROOT)): wrong for path in files if (wrong := given_up(path))}
    assert not found, f"say what it is: {found}"


def public_classes(path: Path) -> list[str]:
    """Names of a module's classes that others may use."""
    body = tree(path).body
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def test_no_module_and_no_class_is_called_by_a_bare_participle() -> None:
    named = {str(path.relative_to(ROOT)): {path.stem, *map(str.lower, public_classes(path))} for path in PYTHON}
    found = {path: wrong for path, names in named.items() if (wrong := names & CLASSES.keys())}
    assert not found, f"say what it is: {found}, {CLASSES}"


def functions(path: Path) -> set[str]:
    """Names of a module's functions and methods, without a leading underscore; nested ones too."""
    nodes = ast.walk(tree(path))
    return {node.name.lstrip("_") for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_no_function_is_called_told() -> None:
    """A function says what it gives."""
    found = {str(path.relative_to(ROOT)) for path in PYTHON if functions(path) & {"told", "told_of", "as_told"}}
    assert not found, f"say what it gives: {found}"


def tags(path: Path) -> list[str]:
    """The tags and variables of a template, without the texts in them."""
    return [re.sub(r'"[^"]*"', "", tag) for tag in re.findall(r"\{[{%].*?[%}]\}", path.read_text(encoding="utf-8"))]


def test_no_page_has_a_variable_named_told() -> None:
    pages = sorted((ROOT / "templates").rglob("*.html"))
    found = {str(page.relative_to(ROOT)) for page in pages if re.search(r"(\b|_)told(\b|_)", " ".join(tags(page)))}
    assert not found, f"say what it is: {found}"


def test_nothing_in_a_script_is_named_told() -> None:
    """But for ``page.found.told``, which the server sends."""
    found = {}
    for path in SCRIPTS:
        code = re.sub(r"/\*.*?\*/|//[^\n]*|`[^`]*`|\.found\.told", "", path.read_text(encoding="utf-8"), flags=re.S)
        if wrong := {
            name for name in re.findall(r"[A-Za-z_$][\w$]*", re.sub(r'"[^"\n]*"', "", code)) if "told" in parts(name)
        }:
            found[str(path.relative_to(ROOT))] = wrong
    assert not found, f"say what it is: {found}"


def all_names(path: Path) -> set[str]:
    """What ``names`` finds, and also what a name is imported as, caught as, matched to, or passed by."""
    found = set(names(path))
    for node in ast.walk(tree(path)):
        match node:
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.alias(name=name, asname=alias):
                found |= {name, alias or name}
            case ast.keyword(arg=str(name)):
                found.add(name)
    return found


def written(path: Path, word: str) -> bool:
    """Whether a file has a word at all; only then it is worth to look for it in names."""
    return word in path.read_text(encoding="utf-8").lower()


def test_no_name_is_told() -> None:
    """A name says what it holds: rows, sentences, events, what is confirmed, what was received."""
    files = [path for path in PYTHON if path.relative_to(ROOT).parts[0] in NOTHING_IS_TOLD and written(path, "told")]
    wrong = {
        str(path.relative_to(ROOT)): {name for name in all_names(path) - STORED if "told" in parts(name)}
        for path in files
    }
    assert {path: found for path, found in wrong.items() if found} == {}


def test_no_class_of_a_study_is_called_by_an_adverb_or_what_is_left() -> None:
    """``Here`` of what? Say that it is local, remote, or the artifacts of a course."""
    classes = {name for path in PYTHON if path.parent.name == "study" for name in public_classes(path)}
    assert not {name for name in classes if parts(name) & {"here", "apart", "left"}}


def test_no_column_of_a_table_of_the_catalogue_is_called_told() -> None:
    """A newcomer fills in these rows first, and must not ask what a column is for."""
    columns = {*StudyKind._fields, *AgentGame._fields, *Entry._fields}
    assert not columns & (RETIRED.keys() | CLASSES.keys())


def test_a_name_that_stood_for_several_classes_stands_for_one_at_most() -> None:
    classes = [name for path in PYTHON for name in public_classes(path)]
    assert {name: SEVERAL[name] for name in SEVERAL if classes.count(name) > 1} == {}


def test_no_name_stands_for_a_class_in_many_modules() -> None:
    """Whoever reads it elsewhere must not have to look which one is meant."""
    rooms = [path for path in PYTHON if path.parts[len(ROOT.parts)] in ("engine", "webapp")]
    product = [path for path in rooms if "commands" not in path.parts and "migrations" not in path.parts]
    many = Counter(name for path in product for name in public_classes(path) if name not in ALIKE)
    assert {name: count for name, count in many.items() if count > MOST_OF_A_NAME} == {}, "say what it is of"


def test_no_module_has_a_name_that_would_do_for_several() -> None:
    found = {str(path.relative_to(ROOT)): MODULES[path.stem] for path in PYTHON + SCRIPTS if path.stem in MODULES}
    assert not found, f"say what it is: {found}"


def test_what_an_agent_decides_is_a_decision_or_an_action_and_no_move() -> None:
    """On pages only units and paddles move (ARCHITECTURE.md, Words)."""
    sites = [p for p in PYTHON if p.parts[len(ROOT.parts)] == "webapp" and "migrations" not in p.parts]
    pages = [*sites, *SCRIPTS, *sorted((ROOT / "templates").rglob("*.html"))]
    said = re.compile(
        r"(?i)(likeliest|random|legal|each|last|best) moves?\b|\bmoves? (learned|a second|in all|to it)"
        r"|\bmoves a (player|member)|\b(draws?|chooses) its moves"
    )
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    found = {f"{path.relative_to(ROOT)}: {m.group()}" for path, text in texts.items() for m in said.finditer(text)}
    assert found == set()
