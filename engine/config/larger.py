"""Whether a network can be a part of a larger one (``engine.rl.surgery``)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.rl import NetworkConfig


def not_larger(old: NetworkConfig, new: NetworkConfig) -> Iterator[str]:
    """Why the network of a trained policy, ``old``, is no part of another, in sentences without a capital and a full
    stop."""
    for name in ("sharing", "activation"):
        if getattr(old, name) != getattr(new, name):
            title = str(NetworkConfig.model_fields[name].title).lower()
            yield f"the {title} of its network is {getattr(old, name)}, and here {getattr(new, name)}"
    if bool(old.lstm) != bool(new.lstm) or new.lstm < old.lstm:
        yield f"its network has {old.lstm} LSTM units, and here {new.lstm}"
    if [(c.kernel, c.stride) for c in old.conv] != [(c.kernel, c.stride) for c in new.conv]:
        yield "its convolutions have other kernels or strides, or are of another number"
    else:
        yield from _fewer("convolutions", tuple(c.channels for c in old.conv), tuple(c.channels for c in new.conv))
    yield from _fewer("policy", old.policy, new.policy)
    yield from _fewer("critic", old.critic, new.critic)


def _fewer(name: str, before: tuple[int, ...], now: tuple[int, ...]) -> Iterator[str]:
    if len(before) != len(now) or any(n < b for n, b in zip(now, before, strict=True)):
        wanted = "give as many layers, each with as many units or more"
        yield f"its layers of the {name} have {_listed(before)} units, and here {_listed(now)}: {wanted}"


def _listed(units: tuple[int, ...]) -> str:
    return ", ".join(map(str, units)) or "none"
