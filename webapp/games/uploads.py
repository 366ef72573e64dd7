"""Uploads are cut off while they arrive: a huge file never reaches the disk, and its form says so."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

from webapp.games.limits import MOST_BYTES

TOO_LARGE = "The file is larger than 5 MB. Leave out columns and worksheets without game data."


class BoundedUpload(FileUploadHandler):
    """First of the upload handlers: drops a file once it is larger than any sheet may be."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > MOST_BYTES:
            assert self.request is not None
            self.request.META["equipoise.too_large"] = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        return None


def too_large(request: HttpRequest) -> bool:
    """Whether a file of this request was dropped for its size."""
    return bool(request.META.get("equipoise.too_large"))
