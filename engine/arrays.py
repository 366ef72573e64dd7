"""The container for named arrays in the store, between processes and in the browser.

Layout: 8-byte magic ``EQARR\\x00\\x00\\x01``, uint32 header length, JSON header padded with spaces so that
the body starts at a multiple of 8, then each array's little-endian bytes, each padded to a multiple of 8. The header is
``{"meta": {...}, "arrays": [{"name", "dtype", "shape", "offset", "bytes"}]}`` with offsets from the start
of the body. A typed array view needs no copy on either side. No pickle: dtypes come from an allow-list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import StoreError

MAGIC = b"EQARR\x00\x00\x01"
DTYPES = frozenset(["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])


class Bundle(NamedTuple):
    """Plain metadata (JSON) and named arrays."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def _pad(n: int) -> int:
    return -n % 8


def pack(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The container as bytes; equal content gives equal bytes. Raises StoreError for a dtype outside the list."""
    entries, body, offset = [], [], 0
    for name, array in arrays.items():
        array = np.asarray(array)  # not ascontiguousarray: it turns a 0-d array into a 1-d one
        array = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        if array.dtype.str not in DTYPES:
            raise StoreError(f"Array {name!r} has type {array.dtype}, which cannot be stored.")
        data = array.tobytes()
        entries.append(
            {"name": name, "dtype": array.dtype.str, "shape": array.shape, "offset": offset, "bytes": len(data)}
        )
        body += [data, b"\0" * _pad(len(data))]
        offset += len(data) + _pad(len(data))
    header = json.dumps({"meta": meta, "arrays": entries}, separators=(",", ":"), sort_keys=True).encode()
    header += b" " * _pad(len(MAGIC) + 4 + len(header))
    return b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *body])


def unpack(data: bytes | memoryview) -> Bundle:
    """The container's content; arrays are read-only views of ``data``. Raises StoreError when it is damaged."""
    try:
        view = memoryview(data)
        if bytes(view[:8]) != MAGIC:
            raise ValueError("it does not start as one")
        start = 12 + int.from_bytes(view[8:12], "little")
        header = json.loads(bytes(view[12:start]))
        return Bundle(header["meta"], {e["name"]: _view(view[start:], e) for e in header["arrays"]})
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise StoreError(f"This is not a readable array file: {error}.") from error


def _view(body: memoryview, entry: Mapping[str, Any]) -> NDArray[Any]:
    if entry["dtype"] not in DTYPES:
        raise ValueError(f"type {entry['dtype']} is not allowed")
    raw = body[entry["offset"] : entry["offset"] + entry["bytes"]]
    return np.frombuffer(raw, dtype=entry["dtype"]).reshape(entry["shape"])


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """An aligned and writable array, as torch and numba need: the array itself, or else a copy."""
    return np.require(array, requirements=("ALIGNED", "WRITEABLE"))


def stacked(tables: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns of several artifacts, concatenated; where rows hold tables of replicates of different length, the shorter
    ones are padded with NaN."""
    widths = {table.shape[1] for table in tables if table.ndim > 2}
    if len(widths) < 2:
        return np.concatenate(tables)
    most = max(widths)
    return np.concatenate([np.pad(t, ((0, 0), (0, most - t.shape[1]), (0, 0)), constant_values=np.nan) for t in tables])
