"""The reaper: a tiny parent process for one simulator, which ensures that nothing of it outlives the engine.

Run as a script by ``engine.simulators.process`` (standard library only, so it starts in about 20 ms)::

    python -I -S reaper.py LIFE_FD REPORT_FD PRIVATE_DIR -- COMMAND [ARGUMENT ...]

It becomes the reaper of everything that the command starts, even of daemons that left their session. When the command
ends, when the engine asks (SIGTERM), or when the engine is gone in any way (the pipe LIFE_FD ends, or the parent
changes), it kills all of them, removes PRIVATE_DIR and ends with the command's exit code (128 + signal). It also writes
to the pipe REPORT_FD how the command ended, as "exit CODE", "signal NUMBER" or "unstarted 0", because an exit code
above 128 need not be a signal, and 127 may be the command's own.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ENGINE_GONE = 125
ASKED_TO_STOP = 128 + signal.SIGTERM

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def start(command: list[str], report_fd: int) -> int:
    """Fork and execute the command in a process group of its own; it dies with the reaper. Returns its pid. If it
    cannot be executed, that is reported, and the pid is that of a child that ends with 127."""
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(report_fd, b"unstarted 0\n")
        os.write(2, f"{command[0]} could not be started: {error.strerror}\n".encode())
        os._exit(127)


def children() -> list[int]:
    """Pids of all direct children, including adopted ones."""
    found = []
    me = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                parent = int(stat.read().rsplit(b")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == me:
            found.append(int(name))
    return found


def kill_everything(group: int) -> None:
    """Kill the group, then all remaining children: each round adopts and kills the next generation."""
    for _ in range(400):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        for pid in children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def watch(pid: int, life_fd: int, report_fd: int, wake_fd: int, stopping: list[int]) -> int:
    """Wait until the command ends or is no longer wanted; returns the reaper's exit code."""
    parent = os.getppid()
    while True:
        ready, _, _ = select.select([life_fd, wake_fd], [], [], 1.0)
        if wake_fd in ready:
            os.read(wake_fd, 64)
        try:
            while True:
                ended, status = os.waitpid(-1, os.WNOHANG)
                if not ended:
                    break
                if ended == pid:
                    code = os.waitstatus_to_exitcode(status)
                    with contextlib.suppress(OSError):
                        os.write(report_fd, f"{'exit' if code >= 0 else 'signal'} {abs(code)}\n".encode())
                    return code if code >= 0 else 128 - code
        except ChildProcessError:
            return ENGINE_GONE
        if stopping:
            return ASKED_TO_STOP
        if life_fd in ready or os.getppid() != parent:
            return ENGINE_GONE


def main(arguments: list[str]) -> int:
    """Run the command given on the command line to its end."""
    life_fd, report_fd, private_dir, command = int(arguments[0]), int(arguments[1]), arguments[2], arguments[4:]
    for descriptor in (life_fd, report_fd):
        os.set_inheritable(descriptor, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake_fd, wake_in = os.pipe()
    os.set_blocking(wake_in, False)
    signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
    stopping: list[int] = []
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = start(command, report_fd)
    code = ENGINE_GONE
    try:
        code = watch(pid, life_fd, report_fd, wake_fd, stopping)
    finally:
        kill_everything(pid)
        shutil.rmtree(private_dir, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
