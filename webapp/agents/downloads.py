"""The file that people take home of an agent, under the name that it has now: it was measured under an earlier one."""

from __future__ import annotations

import io
import json
import zipfile

from engine.text import in_markdown


def renamed(taken: bytes, name: str) -> bytes:
    """The zip file with this name on its card, both as JSON and in words, whose first line is its heading."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(taken)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.infolist():
            data = old.read(each)
            if each.filename == "card.json":
                data = json.dumps({**json.loads(data), "name": name}, indent=1, ensure_ascii=False).encode() + b"\n"
            elif each.filename == "card.md":
                data = f"# {in_markdown(name)}\n".encode() + data.partition(b"\n")[2]
            new.writestr(each, data)
    return packed.getvalue()
