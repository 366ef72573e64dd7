"""A server that speaks S3's protocol, in a process of a test's own: moto's, with one thread. It looks at a condition
and writes in two steps, so of requests at the same time each waits for the one before; S3 does both at once.

``POST /age?key=KEY&seconds=S`` makes an object of the bucket older.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode
from urllib.request import urlopen

BUCKET = "equipoise"


class OwnS3:
    """The server, up, with an empty bucket."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.own_s3"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().strip()

    @property
    def environment(self) -> dict[str, str]:
        """What makes processes use it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint, "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip

    def fresh(self) -> str:
        """The address of an empty store."""
        return f"s3://{BUCKET}/site-{secrets.token_hex(4)}"

    def age(self, address: str, seconds: float) -> None:
        """Make the object at this address so much older."""
        key = address.removeprefix(f"s3://{BUCKET}/")
        urlopen(f"{self.endpoint}/age?{urlencode({'key': key, 'seconds': seconds})}", data=b"", timeout=30).close()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def _bucket() -> Any:
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


def _serve() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    app = DomainDispatcherApplication(create_backend_app)

    def ageing(environ: dict[str, Any], respond: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/age":
            return app(environ, respond)  # type: ignore[no-any-return]
        told = parse_qs(environ["QUERY_STRING"])
        found = _bucket().get_object(BUCKET, told["key"][0])
        found.last_modified -= timedelta(seconds=float(told["seconds"][0]))
        respond("200 OK", [])
        return []

    _bucket().create_bucket(BUCKET, "us-east-1")
    server = make_server("127.0.0.1", 0, ageing, threaded=False, request_handler=MotoRequestHandler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _serve()
