"""What the person at the terminal asked for: ``PORT``, ``LISTEN``, ``VAR`` and the number of processors."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.up.layout import ROOT, CannotStart


@dataclass(frozen=True)
class Options:
    """``listen`` is an address of this machine; anything but loopback lets other machines in."""

    port: int
    listen: str
    var: Path
    cpus: int
    job_slots: int

    @property
    def open_to_others(self) -> bool:
        return not ipaddress.ip_address(self.listen).is_loopback

    @property
    def everywhere(self) -> bool:
        return ipaddress.ip_address(self.listen).is_unspecified

    @property
    def address(self) -> str:
        """The link to print, as another machine would type it when it may."""
        return self._link(outward_address() if self.everywhere else self.listen)

    @property
    def local_address(self) -> str:
        """The link by which this machine asks for the site."""
        return self._link("127.0.0.1" if self.everywhere else self.listen)

    @property
    def hosts(self) -> list[str]:
        """Names under which browsers may ask for the site."""
        local = ["localhost", "127.0.0.1", "[::1]"]
        if not self.open_to_others:
            return local
        return [*local, _in_url(outward_address() if self.everywhere else self.listen), socket.gethostname().lower()]

    def _link(self, host: str) -> str:
        return f"http://{_in_url(host)}:{self.port}/"

    def open_socket(self) -> socket.socket:
        """Listen; raises ``CannotStart`` when the port is taken or the address is not this machine's."""
        listener = socket.socket(socket.AF_INET6 if ":" in self.listen else socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.listen, self.port))
            listener.listen(256)
        except OSError as error:
            listener.close()
            raise CannotStart(self._cannot_listen(error)) from error
        return listener

    def _cannot_listen(self, error: OSError) -> str:
        if error.errno == errno.EADDRINUSE:
            return (
                f"Port {self.port} is taken by another program. Stop that one, or choose another port: "
                f"make run PORT={self.port + 1}"
            )
        if error.errno == errno.EACCES:
            return f"Port {self.port} is for root only. Choose one above 1023: make run PORT=8000"
        return (
            f"This machine cannot listen on {self.listen} ({error.strerror}). Its own address seems to be "
            f"{outward_address()}: make run LISTEN={outward_address()}"
        )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def outward_address() -> str:
    """The address of this machine that others on its network see; nothing is sent to find out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def read_options(environment: Mapping[str, str] = os.environ) -> Options:
    """Options from environment variables; raises ``CannotStart`` on a value that cannot be used."""
    listen = environment.get("LISTEN") or "127.0.0.1"
    try:
        ipaddress.ip_address(listen)
    except ValueError:
        raise CannotStart(
            f"LISTEN is “{listen}”; write an address of this machine: make run LISTEN={outward_address()}"
        ) from None
    cpus = _number(environment, "EQUIPOISE_CPUS", len(os.sched_getaffinity(0)), 4096)
    return Options(
        port=_number(environment, "PORT", 8000, 65535),
        listen=listen,
        var=Path(environment.get("VAR") or ROOT / "var").resolve(),
        cpus=cpus,
        # Two even on one processor, so that a night job never keeps a short one from starting.
        job_slots=_number(environment, "EQUIPOISE_JOB_SLOTS", max(2, cpus // 2), 256),
    )


def _number(environment: Mapping[str, str], name: str, default: int, highest: int) -> int:
    value = environment.get(name) or str(default)
    if value.isascii() and value.isdecimal() and 0 < int(value) <= highest:
        return int(value)
    raise CannotStart(f"{name} is “{value}”; write a whole number from 1 to {highest}: make run {name}={default}")
