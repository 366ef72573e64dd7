"""Objects by key in S3, or in what speaks its protocol: read and written whole, written on a condition, listed.

Endpoint, region and keys come from the environment, as boto3 reads them: ``AWS_ENDPOINT_URL``, ``AWS_DEFAULT_REGION``,
``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY`` and the others. A request that gets no answer in time, or an error of
the server's, is made again; after the last try it is a StoreError. How old an object is, the server says by its own
clock, in whole seconds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from engine.errors import DiskFull, StoreError

TRIES = 5
CONNECT_S, ANSWER_S = 5.0, 30.0
"""Seconds for a connection, and for the next byte of an answer."""
TOGETHER = 16
"""Requests of one process under way at once."""
_MISSING = frozenset({"NoSuchKey", "NotFound", "404"})
_UNMET = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
_FULL = frozenset({"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "507"})
_MOST_REMOVED = 1000
"""Keys that one request may remove."""


class StoredObject(NamedTuple):
    """An object; ``tag`` changes with its content, ``age``: seconds since it was written."""

    data: bytes
    tag: str
    age: float


class ObjectEntry(NamedTuple):
    """An object as a listing has it; ``size`` in bytes."""

    key: str
    tag: str
    age: float
    size: int


class Objects:
    """The objects of a bucket whose keys begin with ``base``, which no key here repeats. All methods raise StoreError
    where the server cannot be used, and DiskFull where it has no room."""

    def __init__(self, bucket: str, base: str) -> None:
        self.bucket, self.base = bucket, base

    def get(self, key: str) -> StoredObject | None:
        """The object, or None where there is none."""
        from botocore.exceptions import BotoCoreError

        for left in reversed(range(TRIES)):
            answer = self._ask("get_object", Key=self.base + key)
            if answer is None:
                return None
            try:
                return StoredObject(answer["Body"].read(), answer["ETag"], _age(answer, answer["LastModified"]))
            except BotoCoreError as error:  # the answer broke off, which boto3 does not try again
                if not left:
                    raise self._unusable(error) from error
        return None

    def age(self, key: str) -> float | None:
        """Seconds since the object was written; None where there is none."""
        answer = self._ask("head_object", Key=self.base + key)
        return None if answer is None else _age(answer, answer["LastModified"])

    def put(self, key: str, data: bytes) -> None:
        """Write the object, whatever was there."""
        self._ask("put_object", Key=self.base + key, Body=data)

    def replace(self, key: str, before: str | None, data: bytes) -> bool:
        """Write the object if it still has the tag that it had before (None: if there is none); whether it is now as it
        should be. A try whose answer was lost may have written it already, so what is there is compared."""
        from botocore.exceptions import ClientError

        condition = {"IfNoneMatch": "*"} if before is None else {"IfMatch": before}
        try:
            if self._ask("put_object", Key=self.base + key, Body=data, **condition) is not None:
                return True
        except ClientError:
            pass  # the condition was not met
        found = self.get(key)
        return found is not None and found.data == data

    def touch(self, key: str) -> bool:
        """Write the object once more as it is; whether there is one."""
        return self._copied(key, key, MetadataDirective="REPLACE")

    def copy(self, key: str, to: str) -> bool:
        """Copy an object on the server; whether there is one."""
        return self._copied(key, to)

    def below(self, prefix: str) -> Iterator[ObjectEntry]:
        """The objects whose keys begin with the prefix, in the order of their keys."""
        more: dict[str, str] = {}
        while True:
            answer = self._ask("list_objects_v2", Prefix=self.base + prefix, **more) or {}
            for one in answer.get("Contents", ()):
                key = one["Key"].removeprefix(self.base)
                yield ObjectEntry(key, one["ETag"], _age(answer, one["LastModified"]), one["Size"])
            if not answer.get("IsTruncated"):
                return
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects; those that are not there are no mistake."""
        left = iter(keys)
        while some := [{"Key": self.base + key} for key in islice(left, _MOST_REMOVED)]:
            answer = self._ask("delete_objects", Delete={"Objects": some, "Quiet": True}) or {}
            if wrong := answer.get("Errors"):
                first = wrong[0].get("Message") or wrong[0].get("Code")
                raise StoreError(f"{len(wrong)} objects could not be removed from s3://{self.bucket}: {first}")

    def remove_if(self, key: str, tag: str) -> None:
        """Remove the object if it still has this tag."""
        from botocore.exceptions import ClientError

        with contextlib.suppress(ClientError):  # it has another one by now
            self._ask("delete_object", Key=self.base + key, IfMatch=tag)

    def _copied(self, key: str, to: str, **more: str) -> bool:
        source = {"Bucket": self.bucket, "Key": self.base + key}
        return self._ask("copy_object", Key=self.base + to, CopySource=source, **more) is not None

    def _ask(self, operation: str, **arguments: Any) -> Mapping[str, Any] | None:
        """What the server answers; None where there is no such object. Raises ClientError only where a condition was
        not met."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: Mapping[str, Any] = getattr(_client(os.getpid()), operation)(Bucket=self.bucket, **arguments)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in _MISSING:
                return None
            if code in _UNMET:
                raise
            if code in _FULL:
                raise DiskFull(f"The store s3://{self.bucket} is full: make room, then resume.") from error
            raise self._unusable(error) from error
        except BotoCoreError as error:
            raise self._unusable(error) from error
        return answer

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(f"The store s3://{self.bucket} cannot be used: {error}")


@lru_cache(maxsize=1)
def _client(process: int) -> Any:
    """The connections of this process; one that was forked from another must not use that one's."""
    import boto3
    from botocore.config import Config

    return boto3.session.Session().client(
        "s3",
        config=Config(
            connect_timeout=CONNECT_S,
            read_timeout=ANSWER_S,
            retries={"mode": "standard", "total_max_attempts": TRIES},
            max_pool_connections=TOGETHER,
            # Artifacts have hashes of their own, and not every server knows the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


def _age(answer: Mapping[str, Any], written: datetime) -> float:
    """By the server's clock, which also dated the answer."""
    now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    return max(0.0, (now - written).total_seconds())
