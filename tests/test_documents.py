"""The documents beside the code: every path they name exists, every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.catalog import STUDIES
from engine.config.overrides import read
from engine.experience import NOTHING
from engine.studies import load

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "engine").glob("*.md"), *(ROOT / "deploy").glob("*.md")])


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", [pytest.param(d, id=str(d.relative_to(ROOT))) for d in DOCUMENTS])
def test_every_link_of_a_document_leads_to_a_file_and_a_heading(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", document.read_text()):
        path, _, heading = target.partition("#")
        file = document if not path else document.parent / path
        assert file.exists(), f"{target}: there is no {path}"
        if heading:
            assert heading in {slug(h) for h in re.findall(r"^#+ (.+)$", file.read_text(), re.M)}, target


def test_the_architecture_names_only_what_is_there() -> None:
    named = re.findall(r"`([\w/.-]+(?:/|\.py|\.md))`", (ROOT / "ARCHITECTURE.md").read_text())
    assert len(named) > 15
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "engine" / name).exists(), name


PACKAGES = ("engine", "webapp", "workers", "deploy", "tests")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}


def is_there(name: str) -> bool:
    """Whether a dotted name is a module's, or of something that its module's text has."""
    module, _, last = name.rpartition(".")
    while module and module not in MODULES:
        module, _, last = module.rpartition(".")
    return name in MODULES or (
        bool(module) and bool(re.search(rf"\b{last}\b", MODULES[module].read_text(encoding="utf-8")))
    )


def test_the_code_names_only_modules_that_are_there() -> None:
    named = re.compile(rf"``((?:{'|'.join(PACKAGES)})(?:\.\w+)+)")
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES.values()}
    found = {path: [name for name in named.findall(text) if not is_there(name)] for path, text in texts.items()}
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}


def test_nothing_refers_to_notes_outside_the_repository() -> None:
    rooms = [ROOT / name for name in ("engine", "webapp", "workers", "deploy", "templates", "static", "tests")]
    kinds = {".py", ".md", ".js", ".css", ".html"}
    ours = (f for room in rooms for f in room.rglob("*") if "node_modules" not in f.parts)
    files = [f for f in ours if f.suffix in kinds and f != Path(__file__).resolve()]
    outside = re.compile(r"\.\./shared|\bresearch/|research notes?|DESIGN\.md|\bdesign, section")
    assert [str(f) for f in [*DOCUMENTS, *files] if outside.search(f.read_text())] == []


def test_every_study_that_the_guide_prints_whole_can_be_run() -> None:
    """A table with a kind is a study, unless it leaves something out, or has a hash or a folder of yours."""
    printed = re.findall(r"```yaml\n(.*?)```", (ROOT / "engine" / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    documents = [text for block in printed for text in re.split(r"^---$", block, flags=re.M)]
    kinds = [re.sub(r" #.*", "", text) for text in documents if text.strip().startswith("kind: ")]
    studies = [load(read(text)) for text in kinds if not re.search(r"…|HASH|\./my-agent", text)]
    assert len(studies) > 12


def test_the_guide_prints_a_study_of_every_kind_that_settings_start() -> None:
    """Others are made from what an earlier study found."""
    text = (ROOT / "engine" / "README.md").read_text(encoding="utf-8")
    made = {"recheck", "sample", "episodes", "measure", "record"}
    assert [kind for kind in STUDIES if kind not in made | {"search"} and f"\nkind: {kind}\n" not in text] == []


def test_the_guide_names_every_number_that_tells_what_was_lost_on_the_way_from_actors() -> None:
    text = (ROOT / "engine" / "README.md").read_text(encoding="utf-8")
    assert [name for name in NOTHING.counts if f"`missing_{name}`" not in text] == []
