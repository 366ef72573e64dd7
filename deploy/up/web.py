"""The web server: uvicorn on a socket that the supervisor opened.

``python -m deploy.up.web DESCRIPTOR``. The socket outlives this process, so while it is being started again browsers
wait a moment instead of being refused, and no other program can take the port.
"""

from __future__ import annotations

import os
import socket
import sys

import uvicorn


def main(descriptor: int) -> None:
    """Serve until SIGTERM, then give open requests two seconds."""
    behind_proxy = os.environ.get("EQUIPOISE_HTTPS", "0") == "1"
    config = uvicorn.Config(
        "webapp.asgi:application",
        lifespan="off",
        timeout_graceful_shutdown=2,
        log_config=None,  # Django's settings say how to log
        access_log=False,
        proxy_headers=behind_proxy,
        server_header=False,
    )
    listener = socket.socket(fileno=descriptor)
    # Connections inherit it. Without, the kernel holds back an answer's body until its head is acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]))
