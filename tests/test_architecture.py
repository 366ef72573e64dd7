"""The house: who may import whom, and what importing the catalog costs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.catalog import ALGORITHMS, LEARNERS, STUDIES

ROOT = Path(__file__).parents[1]
LEAVES = {
    "errors", "rng", "splitmix", "events", "store", "arrays", "indicators", "confidence", "verdicts", "channel",
    "compiling", "config", "differences", "formula", "formula_bounds", "formula_functions",
    "formula_terms", "claims", "piping", "means",
    "peers", "experience", "starting", "text", "objects", "object_store", "stores", "process_group",
    "processor_waits", "actor_counts", "standings", "machine",
}  # fmt: skip
FAMILIES: dict[str, set[str]] = {
    **{leaf: LEAVES | {"simulators.contract"} for leaf in LEAVES},
    "catalog": LEAVES | {"catalog"},
    "studies": LEAVES | {"catalog"},
    "tensorboard_log": LEAVES | {"catalog"},
    "problem": LEAVES,
    "columns": LEAVES | {"problem"},
    "mdp": LEAVES | {"mdp"},
    "evolution": LEAVES | {"problem", "columns", "evolution"},
    "games": LEAVES | {"mdp", "games", "simulators.contract"},
    "simulators": LEAVES | {"simulators", "games", "problem", "mdp", "catalog"},
    "lineups": LEAVES | {"problem", "lineups", "simulators"},
    "worth": LEAVES | {"problem", "columns", "evolution.algorithm", "lineups", "simulators.contract", "worth"},
    "gate": LEAVES | {"lineups", "simulators.contract", "gate", "worth.missing", "worth.verdicts"},
    "gate_command": LEAVES | {"gate", "job_folder", "lineups", "simulators"},
    "bug_command": LEAVES | {"evorl", "job_folder", "mdp"},
    "metagame": LEAVES | {"problem", "columns", "evolution.algorithm", "metagame"},
    "patches": LEAVES | {"problem", "columns", "evolution", "lineups", "worth", "simulators.contract", "patches"},
    "change": LEAVES | {"problem", "evolution.algorithm", "lineups", "simulators.contract", "change"},
    "removal": LEAVES | {"lineups", "removal", "simulators.contract"},
    "sensitivity": LEAVES
    | {"problem", "columns", "evolution.algorithm", "lineups", "rl.devices", "sensitivity", "simulators", "worth"},
    "runtime": LEAVES | {"problem", "columns", "runtime"},
    "rl": LEAVES | {"mdp", "rl", "catalog"},
    "styles": LEAVES | {"problem", "columns", "mdp", "catalog", "styles"},
    "evorl": LEAVES
    | {"problem", "columns", "mdp", "evolution", "rl", "simulators", "catalog", "studies", "styles", "evorl"},
    "study": LEAVES
    | {
        "problem",
        "columns",
        "evolution",
        "lineups",
        "mdp",
        "rl",
        "evorl",
        "gate",
        "runtime",
        "simulators",
        "catalog",
        "change",
        "metagame",
        "patches",
        "removal",
        "sensitivity",
        "study",
        "styles",
        "worth",
    },
}
"""Engine family to the engine modules it may import; cli, bench and __main__ may import anything."""
WEBAPP = {
    "catalog", "studies", "config", "events", "errors", "formula", "store", "stores", "arrays", "indicators",
    "verdicts", "means", "confidence", "formula_functions", "formula_terms", "gate.junit", "gate.numbers",
    "gate.report", "lineups.battle_counts", "lineups.companion",
    "lineups.named", "lineups.parts", "lineups.patterns", "lineups.rules", "lineups.schema", "lineups.size",
    "lineups.suspected", "lineups.distinct_names", "simulators.contract", "simulators.game_names", "standings",
    "starting", "styles.agents", "styles.likeness", "styles.preview", "styles.selection",
    "styles.strangers", "text", "process_group", "worth.findings_in_words", "worth.missing", "worth.verdicts",
}  # fmt: skip
WORKERS = {"events", "config", "store", "errors", "arrays", "process_group"}
ONLY_IN = {
    "ray": ("engine.runtime",),
    "zmq": ("engine.runtime", "engine.simulators"),
    "redis": ("engine.runtime",),
    "torch": ("engine.rl", "engine.evorl", "engine.worth"),
    "tensorboard": ("engine.tensorboard_log",),
    "boto3": ("engine.objects",),
    "botocore": ("engine.objects",),
}


PACKAGES = ("engine", "webapp", "workers", "deploy")
APPS = (
    "lib",
    "accounts",
    "projects",
    "games",
    "balance",
    "studies",
    "training",
    "evaluations",
    "agents",
    "styles",
    "hunts",
    "self_play",
    "shared_critic",
    "gossip",
    "starts",
    "sensitivity",
    "worth",
    "metagame",
    "arena",
    "removal",
    "suspects",
    "changes",
    "patches",
    "gates",
    "reports",
    "api",
)
"""The apps of the site from the lowest up; what a lower one shows of a higher one is put there by its ``AppConfig``."""
Graph = dict[str, set[str]]


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        if "migrations" not in path.parts:
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, path


@cache
def tree(path: Path) -> ast.Module:
    """A file, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All parts of a file, walked through once for all tests."""
    return tuple(ast.walk(tree(path)))


@pytest.fixture(scope="module", autouse=True)
def _no_trees_later() -> Iterator[None]:
    """What was read for the tests of this file burdens none of other files, whose garbage is looked for in less."""
    yield
    tree.cache_clear()
    nodes.cache_clear()


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, at the top or later; ``from a import b`` counts as a.b and as a."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, allowed: set[str]) -> bool:
    return any(name == a or name.startswith(f"{a}.") or a.startswith(f"{name}.") for a in allowed)


def of_engine(found: Iterable[str]) -> set[str]:
    """The engine's modules among imported ones, without the engine's own name."""
    return {each.removeprefix("engine.") for each in found if each.startswith("engine.")}


def libraries(found: Iterable[str]) -> set[str]:
    """The packages that imported modules belong to."""
    return {each.split(".")[0] for each in found}


def forbidden_of_engine(name: str, found: set[str]) -> set[str]:
    """What an engine module imports that its family may not."""
    family = name.split(".")[1] if "." in name else ""
    banned = {"django", "celery", "webapp", "workers"}
    for library, places in ONLY_IN.items():
        if not name.startswith((*places, "engine.bench")):
            banned |= {library}
    allowed = FAMILIES.get(family)
    return libraries(found) & banned | {i for i in of_engine(found) if allowed and not within(i, allowed)}


def test_an_engine_module_imports_only_what_its_family_may() -> None:
    found = {name: forbidden_of_engine(name, set(imports(path))) for name, path in modules("engine")}
    assert not {name: sorted(wrong) for name, wrong in found.items() if wrong}


def test_the_site_imports_only_the_engine_s_light_part() -> None:
    for name, path in modules("webapp"):
        found = set(imports(path))
        wrong = {i for i in of_engine(found) if not within(i, WEBAPP)}
        assert not wrong, f"{name} may not import engine's {sorted(wrong)}"
        if ".management.commands." not in name:  # commands are where the parts are put together
            theirs = {i for i in found if i.split(".")[0] == "workers"}
            own = {i for i in theirs if i in {"workers", "workers.app"} or i.startswith("workers.app.")}
            assert theirs == own, f"{name} may not import {sorted(theirs - own)}"


def test_workers_import_no_view_and_spawn_the_engine() -> None:
    for name, path in modules("workers"):
        found = set(imports(path))
        wrong = {i for i in of_engine(found) if not within(i, WORKERS)}
        wrong |= {i for i in found if "views" in i.split(".")}
        assert not wrong, f"{name} may not import {sorted(wrong)}"


def bare_next(path: Path) -> Iterator[int]:
    """Lines with a ``next`` that raises StopIteration where nothing is left."""
    for node in nodes(path):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next"
        if called and len(node.args) == 1:
            yield node.lineno


def light_part() -> Iterator[tuple[str, Path]]:
    """Modules of the engine that the site calls."""
    return ((name, path) for name, path in modules("engine") if within(name.removeprefix("engine."), WEBAPP))


def test_no_view_can_raise_stop_iteration_which_no_future_carries() -> None:
    parts = (*modules("webapp"), *modules("workers"), *light_part())
    found = {name: lines for name, path in parts if (lines := list(bare_next(path)))}
    assert not found, "use webapp.lib.first.first, or give next a default"


def asked_of_texts(path: Path) -> set[str]:
    """The methods of texts with which a file asks whether something is a number."""
    found = {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
    return found & {"isdigit", "isdecimal", "isnumeric"}


def test_no_text_is_taken_for_a_number_that_int_refuses() -> None:
    wrong = {}
    for name, path in (each for package in PACKAGES for each in modules(package)):
        allowed = set() if name.startswith("webapp.") else {"isdecimal"}  # the site's texts come from anybody
        if name != "webapp.lib.digits":  # it looks for plain digits and for how many
            wrong[name] = asked_of_texts(path) - allowed
    said = "use webapp.lib.digits.whole; elsewhere isdecimal, for ² is a digit"
    assert not {name: found for name, found in wrong.items() if found}, said


def compared_with(path: Path) -> set[str]:
    """The texts that a file compares something with."""
    asked = [part for node in nodes(path) if isinstance(node, ast.Compare) for part in ast.walk(node)]
    return {part.value for part in asked if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def test_no_study_knows_one_of_the_algorithms_or_learners() -> None:
    """It asks what they can do: a new one must not need a place here."""
    rows = ALGORITHMS | LEARNERS
    names = rows.keys() - {"random"}  # a way of hunting of its own, too
    chosen = {entry.path.partition(":")[0] for entry in rows.values()}
    studies = [(name, path) for name, path in modules("engine") if name.startswith("engine.study.")]
    assert studies
    assert not {name: found for name, path in studies if (found := set(imports(path)) & chosen)}
    assert not {name: found for name, path in studies if (found := compared_with(path) & names)}


def imported_from(path: Path) -> set[str]:
    """The names that a file imports from modules."""
    return {alias.name for node in nodes(path) if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.parametrize("name", ["scheduled", "session", "checkpoint", "control", "failures"])
def test_what_drives_studies_of_several_kinds_names_none_of_their_settings(name: str) -> None:
    """A new kind must not need a place here, not even among the types."""
    settings = {kind.config.__name__ for kind in STUDIES.values()}
    assert not imported_from(ROOT / "engine" / "study" / f"{name}.py") & settings


def test_no_page_knows_a_kind_of_search_algorithm() -> None:
    """It asks what the algorithm's row says, such as what it leaves that can be drawn."""
    kinds = "|".join(map(re.escape, ALGORITHMS))
    named = re.compile(rf"kind\b ?(?:==|!=) ?[\"'](?:{kinds})[\"']")
    pages = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "webapp").rglob("*.py")]
    assert not [str(page.relative_to(ROOT)) for page in pages if named.search(page.read_text(encoding="utf-8"))]


LONG = {
    "engine.config.rl",  # every learner's settings
    "engine.games.herobattle.kernel",  # one compiled unit
    "engine.verdicts",
}
"""Files that were longer before there was a limit."""


def test_no_file_is_much_longer_than_files_should_be() -> None:
    """300 lines are the habit (CONTRIBUTING.md); from 400 on, a file has two subjects."""
    files = (each for package in PACKAGES for each in modules(package))
    lines = {name: path.read_text(encoding="utf-8").count("\n") for name, path in files if name not in LONG}
    assert not {name: count for name, count in lines.items() if count > 400}


TOLD_APART = {"Finished", "Failed", "Report", "StoreError", "int"}
"""Classes that studies may ask after: of events, messages and errors, and whether a setting is a number or a range."""


def asked_what_it_is(path: Path) -> Iterator[str]:
    """Calls with which a file asks what class an object is of, or what it has; what only types need is asserted."""
    asserted = {id(part) for node in nodes(path) if isinstance(node, ast.Assert) for part in ast.walk(node)}
    for node in nodes(path):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or id(node) in asserted:
            continue
        guessed = node.func.id == "getattr" and len(node.args) == 3 and ast.unparse(node.args[0]) != "error"
        sorted_out = node.func.id == "isinstance" and ast.unparse(node.args[1]) not in TOLD_APART
        if guessed or sorted_out or node.func.id == "hasattr":
            yield f"{node.lineno}: {ast.unparse(node)}"


def test_no_study_asks_what_class_a_learner_a_space_or_a_game_is_of() -> None:
    """They say what they can (``Capabilities``, ``engine.config.rl``, …): a new one must not need a place here."""
    studies = {name: list(asked_what_it_is(p)) for name, p in modules("engine") if name.startswith("engine.study.")}
    assert not {name: found for name, found in studies.items() if found}


def test_the_celery_application_imports_no_model() -> None:
    assert not any("models" in i.split(".") for i in imports(ROOT / "workers" / "app.py"))


def test_a_process_of_the_site_loads_nothing_heavy_when_it_starts() -> None:
    """Each start of a site has five such processes; what few of them ever use is loaded when it is used."""
    light = "engine.catalog, engine.config, engine.lineups.schema, engine.lineups.rules, webapp.urls, workers.tasks"
    heavy = ("torch", "ray", "numba", "zmq", "scipy", "openpyxl", "weasyprint", "plotly", "tensorboard", "boto3")
    code = f"import sys, django; django.setup(); import {light}; print(*(m for m in {heavy} if m in sys.modules))"
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def is_for_types(node: ast.AST) -> bool:
    """Whether it is ``if TYPE_CHECKING:``, which nothing runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def run(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a file that run when it is imported or later: all but imports for types."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not is_for_types(child):
            yield from run(child)


def import_graph(files: dict[str, ast.Module]) -> Graph:
    """Each module by its name, and the others that it imports, at the top or later."""
    graph: Graph = {}
    for name, module in files.items():
        found: set[str] = set()
        for node in run(module):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {each if each in files else node.module for each in below}
        graph[name] = {each for each in found if each in files} - {name}
    return graph


def reached(graph: Graph, start: str) -> set[str]:
    """What one comes to from ``start``; itself only where a circle leads back."""
    found: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead += graph[node]
    return found


def circles(graph: Graph) -> set[frozenset[str]]:
    """The sets of nodes each of which leads to all others of its set."""
    beyond = {node: reached(graph, node) for node in graph}
    return {frozenset(o for o in beyond[node] if node in beyond[o]) for node in graph if node in beyond[node]}


@pytest.fixture(scope="module")
def product() -> Graph:
    return import_graph({name: tree(path) for package in PACKAGES for name, path in modules(package)})


def test_no_modules_import_one_another_in_a_circle_not_even_later(product: Graph) -> None:
    assert not [sorted(circle) for circle in circles(product)]


def test_an_app_of_the_site_imports_only_apps_below_it(product: Graph) -> None:
    assert {path.parent.name for path in (ROOT / "webapp").glob("*/__init__.py")} == set(APPS)
    for place, app in enumerate(APPS):
        above = {f"webapp.{each}" for each in APPS[place + 1 :]}
        own = {name: others for name, others in product.items() if within(name, {f"webapp.{app}"}) and name != "webapp"}
        wrong = {name: bad for name, others in own.items() if (bad := {o for o in others if within(o, above)})}
        assert not wrong


ROOMS = {path.parent.name for path in (ROOT / "engine").glob("*/__init__.py")} - {"config", "catalog", "bench"}
"""The engine's folders that the picture shows."""


@pytest.fixture(scope="module")
def told() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def arrows(picture: str) -> Graph:
    """From each room of the engine to others, in lines such as ``a & b --> c & d``."""
    graph: Graph = {room: set() for room in ROOMS}
    for line in picture.splitlines():
        starts, arrow, ends = line.partition("-->")
        for start in ROOMS & set(starts.split()) if arrow else ():
            graph[start] |= ROOMS & set(ends.split())
    return graph


def test_the_picture_has_the_arrows_between_the_engine_s_rooms(told: str, product: Graph) -> None:
    found: Graph = {room: set() for room in ROOMS}
    for name, others in product.items():
        if (room := name.split(".")[1] if name.startswith("engine.") else "") in ROOMS:
            theirs = {o.split(".")[1] for o in others if o.startswith("engine.") and o != "engine.simulators.contract"}
            found[room] |= (theirs & ROOMS) - {room}
    assert arrows(told.partition("```mermaid")[2].partition("```")[0]) == found


def test_the_architecture_lists_the_apps_in_their_order(told: str) -> None:
    _, _, listed = told.partition("The site's apps depend on one another in one\norder:")
    assert tuple(re.findall(r"`(\w+)`", listed.partition(".")[0])) == APPS


def test_the_words_of_the_architecture_have_every_kind_of_study(told: str) -> None:
    (row,) = re.findall(r"^\| kind of study \| (.+);", told, re.M)
    assert len(row.split(", ")) == len(STUDIES)


def test_circles_are_found_where_an_import_is_deferred_and_not_where_it_is_for_types() -> None:
    files = {
        "a": "import b\nfrom c import d",
        "b": "def later():\n    from a import x",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a",
        "c.d": "import c",
    }
    assert circles(import_graph({name: ast.parse(text) for name, text in files.items()})) == {frozenset("ab")}
