"""Framing of ``equipoise-sim/1``: what goes in comes out, and nothing a stranger sends does more than fail clearly."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import SimulatorError
from engine.simulators import protocol
from engine.simulators.checks import spec_problems
from engine.simulators.contract import Frame
from engine.simulators.protocol import Bye, Error, Frames, Hello, PlayBattles, Replay, Results, Spec, decode, encode
from engine.simulators.reading import certain
from tests.engine.sample_simulators import SPEC, TugOfWar, team_rows

MESSAGES = [
    Hello(key="k", name="tug", capabilities=("cancel",), max_batch=9),
    Spec(spec=SPEC),
    PlayBattles(id=3, deadline_ms=100, patch={"luck": 0.1}, fidelity="quick"),
    Replay(id=4, deadline_ms=1),
    Frames(id=4, frames=tuple(TugOfWar().replay(team_rows(1), team_rows(1), 0, {}))),
    Error(id=1, code="cancelled", message="it rained", permanent=True),
    Bye(),
]


@pytest.mark.parametrize("message", MESSAGES, ids=protocol.type_name)
def test_a_message_comes_back_as_it_went(message: protocol.AnyMessage) -> None:
    assert decode([bytes(f) for f in encode(message)]) == (message, {})


@given(st.integers(0, 5), st.integers(0, 4), st.sampled_from(sorted(protocol.DTYPES)), st.integers(0, 2**32 - 1))
def test_arrays_come_back_bit_for_bit(rows: int, columns: int, dtype: str, seed: int) -> None:
    raw = np.random.default_rng(seed).bytes(rows * columns * protocol.DTYPES[dtype].itemsize)
    array = np.frombuffer(raw, protocol.DTYPES[dtype]).reshape(rows, columns)
    for given_array in (array, np.asfortranarray(array), array[::-1]):
        back = decode([bytes(f) for f in encode(Results(id=1), {"a": given_array})]).arrays["a"]
        assert back.dtype == array.dtype
        assert back.tobytes() == np.ascontiguousarray(given_array).tobytes()


def test_64_bit_seeds_survive() -> None:
    seeds = np.array([0, 2**53 + 1, 2**64 - 1], np.uint64)
    back = decode([bytes(f) for f in encode(PlayBattles(id=1, deadline_ms=1), {"seeds": seeds})])
    assert back.arrays["seeds"].tolist() == seeds.tolist()


def test_objects_cannot_be_sent() -> None:
    with pytest.raises(ValueError, match="cannot travel"):
        encode(Results(id=1), {"a": np.array([print])})


def test_unknown_keys_are_tolerated() -> None:
    assert decode([b'{"type":"PONG","id":2,"mood":"good","arrays":[]}']).message == protocol.Pong(id=2)


def _results(**described: object) -> bytes:
    array = {"name": "a", "dtype": "uint8", "shape": [2]} | described
    return json.dumps({"type": "RESULTS", "id": 1, "arrays": [array]}).encode()


NOTHING = b'{"name":"a","dtype":"uint8","shape":[0]}'
TOO_MANY_ARRAYS = b'{"type":"RESULTS","id":1,"arrays":[%s]}' % b",".join([NOTHING] * 257)


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ([], "an empty message"),
        ([b""], "the header is not a message"),
        ([b"{}"], "missing required field `type`"),
        ([b'{"type":"SHOUT","id":1}'], "Invalid value 'SHOUT'"),
        ([b'{"type":"RESULTS"}'], "RESULTS has wrong keys: id is missing; it has to be a whole number"),
        ([b'{"type":"RESULTS","id":"x"}'], 'id is "x"; it has to be a whole number'),
        ([b'{"type":"RESULTS","id":1e999}'], "the header is not a message"),
        ([b'{"type":"BATTLES","id":1,"deadline_ms":1,"patch":{"a":NaN}}'], "the header is not a message"),
        ([b"\xff\xfe{}"], "the header is not a message"),
        ([b"[" * 200_000], "the header is not a message"),
        ([b" " * (protocol.MAX_HEADER_BYTES + 1)], "the most allowed"),
        ([_results()], "describes 1 arrays and 0 array frames"),
        ([_results(), b"ab", b"c"], "describes 1 arrays and 2 array frames"),
        ([_results(), b"abc"], "takes 2 bytes, and its frame has 3"),
        ([_results(dtype="object"), b"ab"], "type 'object'"),
        ([_results(dtype=">f8"), b"ab"], "type '>f8'"),
        ([_results(shape=[-1]), b"ab"], "impossible shape"),
        ([_results(shape=[2**62, 2**62]), b"ab"], "impossible shape"),
        ([_results(shape=[1, 1, 1, 1, 1, 2]), b"ab"], "impossible shape"),
        ([_results(shape=[2.5]), b"ab"], r"arrays\[0\]\.shape\[0\] is 2\.5; it has to be"),
        ([TOO_MANY_ARRAYS, *[b""] * 257], "describes 257 arrays"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_message_is_named(frames: list[bytes], said: str) -> None:
    with pytest.raises(SimulatorError, match=said):
        decode(frames)


def test_everything_wrong_with_a_game_for_agents_is_named_with_its_place() -> None:
    seen = {"name": "o", "shape": [2, "x"], "dtype": "int8"}
    parts = [{"kind": "discrete"}, {"kind": "jump"}, {"n": 3}]
    seat = {"observations": [seen], "action": {"kind": "hybrid", "parts": parts}, "rewards": "r"}
    game = {"name": "g", "version": 1, "seats": [seat], "max_ticks": None}
    with pytest.raises(protocol.WrongShape) as caught:
        decode([json.dumps({"type": "GAME", "spec": game}).encode()])
    kinds = '"discrete", "continuous"'
    assert caught.value.problems == [
        "spec.version is 1; it has to be a text",
        'spec.seats[0].observations[0].shape[1] is "x"; it has to be a whole number',
        'spec.seats[0].observations[0].dtype is "int8"; it has to be one of "float32", "uint8"',
        "spec.seats[0].action.parts[0].n is missing; it has to be a whole number",
        f'spec.seats[0].action.parts[1].kind is "jump"; it has to be one of {kinds}',
        f"spec.seats[0].action.parts[2].kind is missing; it has to be one of {kinds}",
        'spec.seats[0].rewards is "r"; it has to be a list […]',
        "spec.max_ticks is null; it has to be a whole number",
    ]


def test_a_text_or_number_that_is_wrong_hides_nothing_else_that_is_wrong_and_claims_nothing() -> None:
    spec = msgspec.to_builtins(SPEC)
    del spec["pieces"][0]["id"], spec["slots"][0]["title"]
    spec["pieces"][1]["cost"], spec["categories"][1]["attributes"][0]["low"] = "12", None
    spec["parameters"][0]["low"], spec["strength"] = 1000.0, "might"
    hero, soldier, *others = spec["slots"]
    spec["slots"] = [hero, {**soldier, "category": "coinz", "optional": 3}, *others]
    with pytest.raises(protocol.WrongShape) as caught:
        decode([json.dumps({"type": "SPEC", "spec": spec}).encode()])
    assert caught.value.problems == [
        "spec.categories[1].attributes[0].low is null; it has to be a number",
        "spec.pieces[0].id is missing; it has to be a text",
        'spec.pieces[1].cost is "12"; it has to be a number',
        "spec.slots[0].title is missing; it has to be a text",
        "spec.slots[1].optional is 3; it has to be true or false",
    ]
    assert certain(spec_problems(caught.value.message.spec)) == [
        "spec.slots[1].category: slot 'soldier' takes a piece of category 'coinz', and there is none",
        "spec.strength is said to be side metric 'might', which is not described",
        "spec.parameters[0]: parameter 'luck': low 1,000 must be below high 20",
    ]


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\x1b", "\x00", "\u2028"])
def test_texts_with_characters_that_nobody_sees_are_refused_wherever_they_stand(hidden: str) -> None:
    piece = msgspec.structs.replace(SPEC.pieces[0], name=f"Ha{hidden}wk")
    spec = msgspec.structs.replace(SPEC, title=f"Gam{hidden}e", pieces=(piece, *SPEC.pieces[1:]))
    code = f"U+{ord(hidden):04X}"
    assert spec_problems(spec) == [
        f"spec.title: {spec.title!r} holds the invisible character {code}; leave it out",
        f"spec.pieces[0].name: {piece.name!r} holds the invisible character {code}; leave it out",
    ]


def test_ids_and_names_are_short_and_on_one_line_and_what_explains_may_be_longer() -> None:
    long = "x" * 81
    hawk, owl, *others = SPEC.pieces
    pieces = (msgspec.structs.replace(hawk, id=long), msgspec.structs.replace(owl, name="Ow\nl"), *others)
    titled = msgspec.structs.replace(SPEC, pieces=pieces, version="1\t0", title=" \u3164 ", about="y" * 2_001)
    assert [problem for problem in spec_problems(titled) if "must" not in problem] == [
        "spec.title: ' \u3164 ' is nothing but blanks; write something that one can see, or nothing",
        "spec.version: '1\\t0' holds a tab or a line break; write it on one line",
        f"spec.pieces[0].id: '{'x' * 80}…' has 81 characters; 80 is the most",
        "spec.pieces[1].name: 'Ow\\nl' holds a tab or a line break; write it on one line",
        f"spec.about: '{'y' * 80}…' has 2,001 characters; 2,000 is the most",
    ]
    whole = msgspec.structs.replace(SPEC, title="x" * 80, about="y\n" * 1_000)
    assert spec_problems(whole) == []


def test_texts_of_any_script_and_of_several_lines_are_welcome() -> None:
    spec = msgspec.structs.replace(
        SPEC, title="משחק\u200f · 遊戲 👩\u200d🚀", about="Two lines,\r\n\tone of them moved in."
    )
    assert spec_problems(spec) == []


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300)
@given(
    st.sampled_from(["HELLO", "SPEC", "RESULTS", "FRAMES", "ERROR", "PING", "X"]),
    st.dictionaries(st.sampled_from(["id", "arrays", "spec", "frames", "code", "versions", "key"]), _json, max_size=4),
    st.lists(st.binary(max_size=20), max_size=3),
)
def test_junk_is_a_message_or_a_simulator_error_and_nothing_else(
    kind: str, body: dict[str, object], tail: list[bytes]
) -> None:
    try:
        decoded = decode([json.dumps({"type": kind, **body}).encode(), *tail])
    except SimulatorError:
        return
    assert len(decoded.message.arrays) == len(tail)


def test_frames_carry_what_a_browser_draws() -> None:
    frame = Frame(3, ({"side": 1, "name": "Hero", "x": 1.5, "y": 0.0, "life": 0.25},), ("Hero strikes",))
    back = decode([bytes(f) for f in encode(Frames(id=1, frames=(frame,)))]).message
    assert isinstance(back, Frames)
    assert back.frames == (frame,)


def test_what_is_shown_of_a_header_that_cannot_be_read_has_the_byte_that_is_wrong_in_it() -> None:
    header = b'{"type":"SPEC","spec":{"title":"Coins, a game with a long title","version":"1","cost":Infinity}}'
    for frame, shown in ((header, "Infinity}}'"), (header[64:], "begins with")):
        with pytest.raises(SimulatorError) as caught:
            protocol.decode([frame])
        assert shown in str(caught.value)
