"""Settings as genes: a range anywhere in a configuration is found, searched and put back; -m replaces settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from engine.config.base import Config, parse
from engine.config.genes import Evolvable, Gene, Number, Whole, express, genes
from engine.config.overrides import overridden, read
from engine.errors import ConfigError
from engine.evolution.genes import GeneSpace
from engine.studies import load
from tests.engine.conftest import Engine

Rate = Annotated[Number, Evolvable(0, 1, above=True)]


class Layer(Config):
    units: Annotated[Whole, Evolvable(1, 1000, whole=True)] = 64
    dropout: Annotated[Number, Evolvable(0, 1)] = 0.0


class Training(Config):
    rate: Annotated[Number, Evolvable(0, 1, above=True, log=True)] = Field(1e-3, title="Learning rate")
    discount: Rate | None = None
    weights: dict[str, Annotated[Number, Evolvable(-10, 10)]] = Field(default_factory=dict)
    layers: tuple[Layer, ...] = ()
    named: dict[str, Layer] = Field(default_factory=dict)
    window: tuple[float, float] = (0.0, 1.0)
    plain: float | tuple[float, float] = 1.0


OPEN: dict[str, Any] = {
    "rate": [1e-5, 0.1],
    "discount": [0.9, 0.99],
    "weights": {"win": [0, 1], "energy": 0.5, "far.away": [1e-4, 1, "linear"]},
    "layers": [{"units": [16, 256, "log"]}, {"units": [1, 4], "dropout": [0.0, 0.5]}],
    "named": {"head": {"dropout": [0.1, 0.2]}},
    "window": [0.2, 0.4],
    "plain": [2.0, 3.0],
}


def test_every_range_is_found_where_it_is_and_a_list_of_two_numbers_is_none() -> None:
    found = {gene.place: gene for gene in genes(parse(Training, OPEN))}
    assert set(found) == {
        "rate", "discount", "weights.win", "weights.far.away", "layers.0.units", "layers.1.units", "layers.1.dropout",
        "named.head.dropout", "plain",
    }  # fmt: skip
    assert found["rate"] == Gene(("rate",), 1e-5, 0.1, log=True)
    assert found["layers.0.units"] == Gene(("layers", 0, "units"), 16, 256, log=True, whole=True)
    assert found["layers.1.units"].whole
    assert not found["layers.1.units"].log
    assert not found["weights.far.away"].log, "linear was asked for"
    assert genes(Training()) == ()


def test_a_range_over_two_powers_of_ten_is_searched_by_its_logarithm_unless_told_otherwise() -> None:
    for ends, log in (([0.01, 1], True), ([0.02, 1], False), ([0, 1], False), ([0.5, 1, "log"], True)):
        (gene,) = genes(parse(Training, {"discount": ends}))
        assert gene.log is log


@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_is_bred_is_a_configuration(seed: int) -> None:
    config = parse(Training, OPEN)
    found, rng = genes(config), np.random.default_rng(seed)
    space = GeneSpace(found)
    some = space.sample(rng, 30)
    for genome in (*some, *space.offspring(rng, some, some[::-1]), *space.decode(np.array([[0.0] * 9, [1.0] * 9]))):
        values = space.values(genome)
        made = express(config, values)
        assert genes(made) == ()
        assert all(gene.low <= values[gene.place] <= gene.high for gene in found)
        assert made.weights["energy"] == 0.5
        assert made.window == (0.2, 0.4)
        assert isinstance(made.layers[0].units, int)
        assert made.layers[1].dropout == values["layers.1.dropout"]


def test_a_logarithmic_gene_is_drawn_evenly_over_powers_of_ten() -> None:
    config = parse(Training, {"rate": [1e-5, 0.1]})
    space = GeneSpace(genes(config))
    drawn = [space.values(genome)["rate"] for genome in space.sample(np.random.default_rng(0), 2000)]
    assert np.mean(np.array(drawn) < 1e-3) == pytest.approx(0.5, abs=0.05)


def test_a_configuration_with_ranges_survives_json() -> None:
    config = parse(Training, OPEN)
    again = parse(Training, json.loads(json.dumps(config.model_dump(mode="json"))))
    assert again == config
    assert "anyOf" in Training.model_json_schema()["properties"]["rate"]


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("rate", [0.1, 0.01], "from low to high"),
        ("rate", [0.1, 2], "at most 1"),
        ("rate", [0, 0.1, "log"], "starts above 0"),
        ("rate", [0.1, 0.2, "square"], "linear or log"),
        ("rate", [0.1], "a list of a lowest and a highest"),
        ("rate", 0, "above 0"),
        ("rate", "fast", "must be a number, or a range"),
        ("discount", True, "must be a number"),
        ("layers.0.units", 1.5, "must be a whole number"),
    ],
)
def test_a_bad_range_is_an_error_at_its_place(place: str, value: Any, words: str) -> None:
    data = {"layers": [{"units": value}]} if place.startswith("layers") else {place: value}
    with pytest.raises(ConfigError) as caught:
        parse(Training, data)
    ((where, message),) = caught.value.problems
    assert where == place
    assert words in message


def test_what_is_no_range_cannot_be_expressed_and_what_is_one_has_to_be() -> None:
    config = parse(Training, {"rate": [0.1, 0.2]})
    with pytest.raises(ConfigError) as caught:
        express(config, {"plain": 3.0})
    assert {p.place for p in caught.value.problems} == {"plain", "rate"}
    with pytest.raises(ConfigError, match="at most 1"):
        express(config, {"rate": 3.0})


def test_settings_from_the_command_line_replace_the_file_s() -> None:
    data = {"algorithm": {"kind": "nsga2", "population": 30}, "stop": [{"kind": "evaluations", "count": 5}]}
    found = overridden(
        data,
        ["algorithm.population=50", "stop.0.count=7", 'game.patch."warhorn.cost"=[80, 160]', "name=a=b", "fresh=0"],
    )
    assert found["algorithm"] == {"kind": "nsga2", "population": 50}
    assert found["stop"] == [{"kind": "evaluations", "count": 7}]
    assert found["game"] == {"patch": {"warhorn.cost": [80, 160]}}
    assert (found["name"], found["fresh"]) == ("a=b", 0)
    assert overridden({}, ["a=[1e-4, 1E+2]", "b=1e-4x"]) == {"a": [0.0001, 100.0], "b": "1e-4x"}
    assert data["algorithm"] == {"kind": "nsga2", "population": 30}, "the file's own table stays as it is"


def test_a_game_and_a_learner_by_name_alone_take_further_settings() -> None:
    short = {"kind": "evolve", "task": {"game": "pong", "learner": "cartpole-ppo"}}
    found = overridden(short, ["task.learner.rate=[1e-4, 1e-2]", "task.game.settings.frame_skip=[1, 8]"])
    assert found["task"]["game"] == {"name": "pong", "settings": {"frame_skip": [1, 8]}}
    assert found["task"]["learner"] == {"preset": "cartpole-ppo", "rate": [1e-4, 1e-2]}


@pytest.mark.parametrize("text", ["a: &a [*a]", "[" * 3000 + "]" * 3000])
def test_a_study_that_holds_itself_or_is_too_deep_cannot_be_read(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="nested too deep"):
        read(text)


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ("fast", "fast"),
        ("=3", "-m"),
        ("stop.4.count=1", "stop.4.count"),
        ("algorithm.population.size=1", "algorithm.population.size"),
        ("a..b=1", "a..b"),
        ("name=[1", "name"),
    ],
)
def test_a_setting_that_cannot_be_put_anywhere_is_named(setting: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        overridden({"algorithm": {"population": 3}, "stop": []}, [setting])
    assert [p.place for p in caught.value.problems] == [place]


def test_an_algorithm_without_a_kind_is_the_usual_one() -> None:
    config = load({"game": {"simulator": "builtin:herobattle"}, "algorithm": {"population": 50}})
    assert config.algorithm.kind == "nsga2"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("algorithm.crossover", "a search cannot choose its own settings"),
        ('game.patch."warhorn.cost"', "one version of the game"),
        ("ticks", "a search cannot choose its own settings"),
        ("noise.again", "a search cannot choose its own settings"),
    ],
)
def test_a_study_of_lineups_learns_nothing_so_a_range_is_refused_at_its_field(place: str, why: str) -> None:
    data = {"game": {"simulator": "builtin:herobattle"}, "algorithm": {"kind": "nsga2"}}
    with pytest.raises(ConfigError) as caught:
        load(overridden(data, [f"{place}=[0.1, 0.9]"]))
    ((where, message),) = caught.value.problems
    assert where == place.replace('"', "")
    assert message.startswith("must be one number: ")
    assert why in message


def test_the_command_line_takes_settings_and_names_what_is_wrong_with_them(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "study.yaml").write_text("game: {simulator: 'builtin:herobattle'}\n")
    command = ("run", "study.yaml", "--job-dir")
    (tmp_path / "file").touch()
    lost = engine(*command, "file")
    assert (lost.returncode, "is a file; name a folder" in lost.stderr) == (2, True)
    nowhere = engine(*command, "/proc/nowhere")
    assert (nowhere.returncode, "/proc/nowhere cannot be made: " in nowhere.stderr) == (2, True)
    bad = engine(*command, "job", "-m", "algorithm.population=1", "-m", "sped=3")
    assert bad.returncode == 2
    assert "algorithm.population:" in bad.stderr
    assert "sped: there is no such setting" in bad.stderr
    small = ["ticks=1", "algorithm.kind=random", "algorithm.population=4", "replicates=2", "fresh=0",
             "pool={kind: local, batch_ms: 20}"]  # fmt: skip
    assert engine(*command, "job", *(w for s in small for w in ("-m", s))).returncode == 0
    kept = json.loads((tmp_path / "job" / "study.json").read_text())
    assert kept["algorithm"]["kind"] == "random"
    assert kept["ticks"] == 1
