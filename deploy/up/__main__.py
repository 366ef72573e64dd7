"""``python -m deploy.up``: the whole site in one terminal (``make run`` comes here once ``.venv`` is ready)."""

from __future__ import annotations

import argparse
import fcntl
import os
import secrets
import socket
import sys
from pathlib import Path

from deploy.up import private, processes
from deploy.up.layout import ROOT, CannotStart, Layout, only_instance
from deploy.up.options import Options, read_options
from deploy.up.parts import environment, parts
from deploy.up.supervisor import Supervisor, healthy, say
from engine.piping import until_nobody_reads
from engine.runtime import folders


def sweep_up(layout: Layout) -> None:
    """End what a run that died (a power cut, a kill) left, and remove its files. Its lock is free, so it is dead."""
    run = layout.recall().get("run")
    if isinstance(run, str) and run and (ended := processes.sweep(run)):
        say(f"An earlier start was cut off; ended {ended} processes that it left.")
    folders.sweep_all()
    layout.forget()
    layout.make_folders()


def close_to_others(layout: Layout) -> None:
    """Make the runtime data private, and say what could not be."""
    if private.shared(layout.var):
        say(
            f"Other users of this machine can create names in {layout.var}, where the runtime data is, for it is a "
            "shared folder. Set VAR to a folder of your own, and start again."
        )
    if left := private.close(layout.var):
        say(
            f"Other users of this machine may be able to read {left[0]} ({len(left)} such files or folders): they "
            "belong to another user. Stop, give them to the one who runs the site (chown -R), and start again."
        )


def keep_from_cleaners(folder: Path) -> int:
    """Services that empty ``/tmp`` after some days leave a locked folder alone; gives the lock's descriptor."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def serve(layout: Layout, options: Options, listener: socket.socket) -> None:
    """Run the parts until a signal."""
    run = secrets.token_hex(8)
    layout.remember(pid=os.getpid(), run=run, address=options.address)
    layout.new_ray_token()
    keep_from_cleaners(layout.short)
    say(f"Equipoise is starting. Runtime data and logs are in {layout.var}.")

    def on_up() -> None:
        say(f"\nEquipoise is up: {options.address}")
        if layout.sign_ins.exists():
            say(layout.sign_ins.read_text().rstrip())
        say("Ctrl-C stops it and everything it started.\n")

    Supervisor(
        layout,
        parts(layout, options, listener),
        environment(layout, options, run),
        is_healthy=lambda: healthy(options.local_address + "health/"),
        on_up=on_up,
    ).run()


def read_arguments() -> None:
    """There are none: ends with the usage where it is asked for, and with an error where anything else is given."""
    argparse.ArgumentParser(
        prog="python -m deploy.up",
        description="Runs the whole site in this terminal until Ctrl-C. It takes no arguments.",
        epilog="The environment says how: PORT (8000), LISTEN (the address it listens on, 127.0.0.1), VAR (the folder "
        "of its runtime data, var), EQUIPOISE_CPUS (processors for jobs) and EQUIPOISE_JOB_SLOTS (jobs at one time).",
    ).parse_args()


def main() -> int:
    """Run the site until a signal; 1 with a sentence when it cannot."""
    read_arguments()
    os.chdir(ROOT)
    os.umask(private.UMASK)
    try:
        options = read_options()
        layout = Layout(options.var)
        layout.make_folders()
        close_to_others(layout)
        with only_instance(layout):
            try:
                sweep_up(layout)
                with options.open_socket() as listener:
                    serve(layout, options, listener)
            finally:
                layout.forget()
    except CannotStart as reason:
        print(f"Equipoise cannot start. {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(until_nobody_reads(main))
