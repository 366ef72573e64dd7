"""The path of a setting: pydantic's location as the dotted path that people write."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

Leaf = tuple[Any, tuple[Any, ...]]


def leaves(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[Leaf]:
    """The members of a union with their annotations' metadata."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from leaves(inner, (*metadata, *more))
    elif get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from leaves(member, metadata)
    else:
        yield annotation, metadata


def annotation_of(model: type[BaseModel], name: str) -> Any:
    """A field's declared type with its metadata; ``Any`` where there is no such field."""
    field = model.model_fields.get(name)
    if field is None:
        return Any
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def written(location: Sequence[int | str], annotation: Any) -> tuple[str, bool]:
    """The dotted path of a location below ``annotation``, without the parts that pydantic inserts (the tag of a
    discriminated union, the name of a tried alternative, a mark for keys); and whether an alternative was tried."""
    path: list[str] = []
    for part in location:
        kinds = _kinds(annotation)
        if part == "[key]":  # of a table: the path has the key itself already
            continue
        if part in kinds:
            annotation = kinds[str(part)]
        elif path and _is_plain(annotation):
            return ".".join(path), True
        else:
            path.append(str(part))
            annotation = _inside(annotation, part)
    return ".".join(path), False


def _kinds(annotation: Any) -> Mapping[str, type[BaseModel]]:
    """The models of a union that is discriminated by their kind."""
    found = {
        kind: leaf
        for leaf, _ in leaves(annotation)
        if _is_model(leaf) and "kind" in leaf.model_fields
        for kind in get_args(leaf.model_fields["kind"].annotation)
    }
    return found if len(found) > 1 else {}


def _is_model(leaf: Any) -> bool:
    return _origin(leaf) is None and isinstance(leaf, type) and issubclass(leaf, BaseModel)


def _is_plain(annotation: Any) -> bool:
    """Whether a value has no inner structure: all alternatives are numbers, texts or the like."""
    found = [leaf for leaf, _ in leaves(annotation)]
    return not any(leaf is Any or _is_model(leaf) or _origin(leaf) not in (None, Literal) for leaf in found)


def _inside(annotation: Any, part: int | str) -> Any:
    for leaf, _ in leaves(annotation):
        if _is_model(leaf):
            return annotation_of(leaf, str(part))
        if arguments := get_args(leaf):
            return arguments[1] if _origin(leaf) in (dict, Mapping) else arguments[0]
    return Any


def _origin(leaf: Any) -> Any:
    return get_origin(leaf)  # the leaf's own type does not show whether it comes from typing, types or collections
