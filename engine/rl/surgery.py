"""Model surgery (Lamarckian's released code, ``rl/surgery.py``): a trained policy begins a larger network.

What a policy knows stands in the first rows and columns of each layer of the new one; what is new has no effect yet:

- A new unit has fresh weights in front of it and zeros behind it, so learning reaches first what it does, then what it
  sees. A new input has zeros on its way to units that were there before.
- A new choice is worth the mean of all that were there before, less ``MARGIN`` where choices are drawn by their odds.
  So it is never the likeliest while all choices are legal, and is drawn at most once in 1,000 · n decisions, of n
  choices: mean z ≤ log mean exp z (Jensen). The odds of the others keep their ratios.
- A new parameter stands in the middle of its bounds.

Departures from the code: 1. it matches the columns of an observation by their headers, here inputs are matched by the
name of their array, the first numbers of which are those of before; 2. units, choices and parameters, which it does not
know; 3. values begin anew where there is another number of rewards; 4. policies of choices with numbers of their own
(``engine.rl.numbered``) begin networks of the same size only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.larger import not_larger
from engine.config.rl import ACTIONS
from engine.errors import ConfigError
from engine.mdp.interface import ActionSpec, ArraySpec, Continuous, Hybrid, Parameterised, members_of
from engine.rl.heads import HEADS
from engine.rl.networks import Network
from engine.rl.policy import Policy, PolicySpec
from engine.rl.teams import TeamNetwork

F32 = NDArray[np.float32]
Places = NDArray[np.int64]
"""For each place along an axis, its place before; -1: there was none."""
MARGIN = math.log(1000)


class Groups(NamedTuple):
    """Outputs of a policy by part of the action: how many choices each has, and the bounds of its parameters."""

    choices: dict[int, int]
    bounds: dict[int, tuple[tuple[float, ...], tuple[float, ...]]]


def grown(policy: Policy, spec: PolicySpec, first: F32) -> F32:
    """The weights of a policy as ``spec`` lays them out. ``first``: initial weights of that specification, from which
    new parts come. Raises ConfigError, without a place, with every reason why it cannot be done."""
    if wrong := [*misfits(policy.spec, spec)]:
        raise ConfigError([("", why) for why in wrong])
    before, model = policy.spec.model(), spec.model()
    if model.head.numbered:
        return policy.weights.copy()
    if isinstance(model.network, TeamNetwork):
        return _grown_apart(policy, Policy(spec, first), model.network)
    found, own = before.tensors(policy.weights), model.tensors(first)
    axes = _axes(policy.spec, spec)
    made = {name: _joined(found[name], own[name], axes[name]) if name in found else own[name] for name in own}
    _new_outputs(made, policy.spec, spec, axes["action.0.bias"][0])
    return model.weights(made)


def _grown_apart(policy: Policy, fresh: Policy, network: TeamNetwork) -> F32:
    """The same for a group, whose members have networks of their own."""
    model = fresh.spec.model()
    made = model.tensors(fresh.weights)
    for i, (was, now) in enumerate(zip(policy.members(), fresh.members(), strict=True)):
        own = now.spec.model().tensors(grown(was, now.spec, now.weights))
        made |= {name: own[local] for name, local in network.own(i, made).items()}
    return model.weights(made)


def _joined(before: F32, fresh: F32, axes: tuple[Places, ...]) -> F32:
    """A tensor with what was there before in its places, and zeros from what is new to what was there before."""
    made = fresh.copy()
    here = [np.flatnonzero(places >= 0) for places in axes]
    if len(axes) > 1:
        made[np.ix_(here[0], axes[1] < 0)] = 0.0
    made[np.ix_(*here)] = before[np.ix_(*(places[at] for places, at in zip(axes, here, strict=True)))]
    return made


def _new_outputs(made: dict[str, F32], theirs: PolicySpec, mine: PolicySpec, places: Places) -> None:
    """New choices and new parameters, in place. Values (the head ``q``) need no margin: of equal ones the first is
    taken."""
    W, b = made["action.0.weight"], made["action.0.bias"]
    W[places < 0], b[places < 0] = 0.0, 0.0
    margin = 0.0 if mine.model().head.explores else MARGIN
    at, there = 0, groups(theirs.seat.action).choices
    for part, count in groups(mine.seat.action).choices.items():
        old, new = slice(at, at + there.get(part, 0)), slice(at + there.get(part, 0), at + count)
        if part in there:
            W[new], b[new] = W[old].mean(axis=0, dtype=np.float64), b[old].mean(dtype=np.float64) - margin
        at += count


def _kept(before: int, now: int, offset: int = 0) -> Places:
    """The first ``before`` of ``now`` places, which began at ``offset``."""
    at = np.arange(now, dtype=np.int64)
    return np.where(at < before, at + offset, -1)


def _axes(theirs: PolicySpec, mine: PolicySpec) -> dict[str, tuple[Places, ...]]:
    """The places along the axes of each tensor that both have: rows and columns, of convolutions channels."""
    old, new = theirs.network, mine.network
    before, model = theirs.model(), mine.model()
    found: dict[str, tuple[Places, ...]] = {
        "epsilon": (_kept(1, 1),),
        "log_std": (_spans(theirs.seat.action, mine.seat.action),),
    }
    entry = _entry(before.network, model.network)
    found |= _convolutions(before.network, model.network)
    width = _layers(found, "policy", entry, old.policy, new.policy)
    if new.lstm:
        units = _kept(old.lstm, new.lstm)
        gates = np.concatenate([np.where(units >= 0, units + gate * old.lstm, -1) for gate in range(4)])
        found |= {"lstm.input": (gates, width), "lstm.state": (gates, units), "lstm.bias": (gates,)}
        width = units
    top, shared = new.sharing == "top", len(new.policy) if new.sharing == "top" else 0
    critic = _layers(found, "critic", width if top else entry, old.critic[shared:], new.critic[shared:])
    outputs, values = _outputs(theirs.seat.action, mine.seat.action), model.head.values
    if model.head.outputs == 2 * len(outputs):  # a squashed Gaussian's means, then its spreads
        outputs = np.concatenate([outputs, np.where(outputs >= 0, outputs + before.head.outputs // 2, -1)])
    valued = _kept(values if before.head.values == values else 0, values)
    found |= {"action.0.weight": (outputs, width), "action.0.bias": (outputs,)}
    found |= {"value.0.weight": (valued, critic), "value.0.bias": (valued,)}
    for spec in model.scaling.running:
        there = {each.name: each.shape for each in before.scaling.running}.get(spec.name, ())
        axes = tuple(_kept(was, now) for was, now in zip(there, spec.shape, strict=False))
        found |= {f"normaliser.{spec.name}.{what}": axes for what in ("mean", "spread")}
    return found


def _layers(
    found: dict[str, tuple[Places, ...]], name: str, width: Places, old: tuple[int, ...], new: tuple[int, ...]
) -> Places:
    """Fully connected layers after something of this ``width``; returns the places of their outputs."""
    for i, (was, now) in enumerate(zip(old, new, strict=True)):
        units = _kept(was, now)
        found |= {f"{name}.{i}.weight": (units, width), f"{name}.{i}.bias": (units,)}
        width = units
    return width


def _convolutions(old: Network, new: Network) -> dict[str, tuple[Places, ...]]:
    found: dict[str, tuple[Places, ...]] = {}
    there = {spec.name: spec.shape[0] for spec in old.images}
    for spec in new.images:
        channels = _kept(there.get(spec.name, 0), spec.shape[0])
        for i, (was, now) in enumerate(zip(old.config.conv, new.config.conv, strict=True)):
            made = _kept(was.channels, now.channels)
            found |= {f"conv.{spec.name}.{i}.weight": (made, channels), f"conv.{spec.name}.{i}.bias": (made,)}
            channels = made
    return found


def _entry(old: Network, new: Network) -> Places:
    """The places of all inputs of the first layers. Whatever grows does so along the first axis, so what was there
    stays in front."""
    there, at = dict[str, tuple[int, int]](), 0
    for spec in (*old.plain, *old.images):
        there[spec.name] = at, _features(old, spec)
        at += there[spec.name][1]
    found = []
    for spec in (*new.plain, *new.images):
        offset, before = there.get(spec.name, (0, 0))
        found.append(_kept(before, _features(new, spec), offset))
    return np.concatenate(found)


def _features(network: Network, spec: ArraySpec) -> int:
    """Inputs that one observation becomes."""
    if spec in network.plain:
        return math.prod(spec.shape)
    sides = list(spec.shape[1:])
    for layer in network.config.conv:
        sides = [(side - layer.kernel) // layer.stride + 1 for side in sides]
    return network.config.conv[-1].channels * math.prod(sides)


def groups(action: ActionSpec) -> Groups:
    """The outputs of an action: those of all choices, then those of all parameters (``engine.rl.distributions``)."""
    choices = {i: sum(part.choices) for i, part in enumerate(parts(action)) if part.choices}
    if isinstance(action, Parameterised):
        ends = np.cumsum([0, *action.sizes]).tolist()
        low, high = (tuple(bound.tolist()) for bound in action.bounds)
        return Groups(choices, {i: (low[a:b], high[a:b]) for i, (a, b) in enumerate(pairwise(ends))})
    return Groups(
        choices, {i: (part.low, part.high) for i, part in enumerate(parts(action)) if isinstance(part, Continuous)}
    )


def parts(action: ActionSpec) -> tuple[ActionSpec, ...]:
    """The parts of a hybrid action; of any other, itself."""
    return action.parts if isinstance(action, Hybrid) else (action,)


def _outputs(old: ActionSpec, new: ActionSpec) -> Places:
    """The places of a policy's outputs."""
    first, then = groups(old).choices, groups(new).choices
    found, at = list[Places](), 0
    for part, count in then.items():
        found.append(_kept(first.get(part, 0), count, at))
        at += first.get(part, 0)
    parameters = _spans(old, new)
    return np.concatenate([*found, np.where(parameters >= 0, parameters + at, -1)])


def _spans(old: ActionSpec, new: ActionSpec) -> Places:
    """The places of an action's parameters among all parameters."""
    first, then = groups(old).bounds, groups(new).bounds
    found, at = [np.empty(0, np.int64)], 0
    for part, (low, _) in then.items():
        before = len(first[part][0]) if part in first else 0
        found.append(_kept(before, len(low), at))
        at += before
    return np.concatenate(found)


def misfits(theirs: PolicySpec, mine: PolicySpec) -> Iterator[str]:
    """Why a policy of one specification cannot begin one of another, in sentences without a capital and a full stop."""
    if theirs.kind != mine.kind:
        yield "another kind of learner trained it: choose the learner with which it was trained"
    elif theirs.duelling != mine.duelling:
        yield f"it was trained with duelling {_switch(theirs.duelling)}: switch it {_switch(theirs.duelling)} here, too"
    if theirs.normalise != mine.normalise:
        wanted = _switch(theirs.normalise)
        yield f"it was trained with the scaling of observations {wanted}: switch it {wanted} here, too"
    if len(members_of(theirs.seat)) != len(members_of(mine.seat)):
        yield f"it steers {len(members_of(theirs.seat))} entities, and here are {len(members_of(mine.seat))}"
    yield from _unseen(theirs.seat.observations, mine)
    yield from _undone(theirs.seat.action, mine.seat.action)
    yield from not_larger(theirs.network, mine.network)
    alike = theirs.kind == mine.kind and type(theirs.seat.action) is type(mine.seat.action)
    if alike and HEADS[mine.kind].numbered and theirs.model().layout() != mine.model().layout():
        yield "what it knows of choices and their numbers goes on in a network and a game of the same size only"


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _unseen(before: tuple[ArraySpec, ...], mine: PolicySpec) -> Iterator[str]:
    """What it sees and would miss."""
    shown = {spec.name: spec for spec in mine.seat.observations}
    for spec in before:
        now = shown.get(spec.name)
        if now is None:
            yield f"it sees “{spec.name}”, which this game does not show"
        elif now.dtype != spec.dtype or not _contains(now.shape, spec.shape, image=bool(mine.network.conv)):
            yield f"it sees “{spec.name}” as {_size(spec)}, and this game shows {_size(now)}"


def _contains(now: tuple[int, ...], before: tuple[int, ...], *, image: bool) -> bool:
    """Whether an array of one shape has one of another in front: of a list more numbers, of an image more channels."""
    grows = len(before) == 1 or (len(before) == 3 and image)
    if len(now) != len(before) or not grows:
        return now == before
    return now[0] >= before[0] and now[1:] == before[1:]


def _size(spec: ArraySpec) -> str:
    return f"{' × '.join(map(str, spec.shape)) or 'one'} of {spec.dtype}"


def _undone(old: ActionSpec, new: ActionSpec) -> Iterator[str]:
    """What it does and could not do."""
    if type(old) is not type(new):
        yield f"it does {ACTIONS[old.kind]}, and here it is {ACTIONS[new.kind]}"
        return
    first, then = groups(old), groups(new)
    for part, count in first.choices.items():
        if then.choices.get(part, 0) < count:
            yield f"it chooses among {count} actions, and here are {then.choices.get(part, 0)}"
    pairs = zip(parts(old), parts(new), strict=False)
    if any(isinstance(was, Continuous) and isinstance(now, Continuous) and _relaid(was, now) for was, now in pairs):
        yield "its numbers are laid out otherwise here"
    for part, bounds in first.bounds.items():
        now = then.bounds.get(part, ((), ()))
        if any(n[: len(b)] != b for n, b in zip(now, bounds, strict=True)):
            yield "the numbers that it does are fewer here, or have other bounds"


def _relaid(old: Continuous, new: Continuous) -> bool:
    return old.shape != new.shape and max(len(old.shape), len(new.shape)) > 1
