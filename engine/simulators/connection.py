"""The engine's side of the protocol with a simulator: the handshake, then requests with their answers.

Any mistake of the program raises one SimulatorError with a sentence, and ends the program.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Sequence
from typing import NoReturn

import zmq

from engine.errors import Cancelled, SimulatorError, shown_faults
from engine.mdp.checks import game_problems
from engine.mdp.interface import MDPSpec
from engine.simulators import checks, protocol
from engine.simulators.contract import GameSpec
from engine.simulators.conversation import Conversation, NoConversation, Wait, never
from engine.simulators.line import Letter
from engine.simulators.protocol import Arrays, Bye, Cancel, Decoded, Error, Game, Hello, Ping, Pong, Spec
from engine.simulators.reading import certain
from engine.text import printable

MAX_HELLO_BYTES = 64 * 1024
SAID = 600
"""Characters of a program's own words in an error."""


class OtherGame(SimulatorError):
    """The program's game is played decision by decision and not as battles of lineups, or the reverse."""


class WrongDescription(SimulatorError):
    """The program describes an impossible game; ``problems`` has a sentence for each of ``shown_faults``."""

    def __init__(self, message: str, problems: Sequence[str]) -> None:
        super().__init__(message, permanent=True)
        self.problems = tuple(problems)


class Connection(Conversation):
    """Call ``handshake`` first, then ``request`` any number of times, then ``close``."""

    interrupted = False
    """Whether the last CANCEL was obeyed with ERROR "cancelled", and not answered with the result."""
    _first_id = 0

    def handshake(self, stopped: Callable[[], bool] = never) -> GameSpec:
        """HELLO both ways, then SPEC; ``stopped`` is called about 20 times a second. Raises SimulatorError (permanent
        if a restart cannot help), and Cancelled once ``stopped`` returns True, after ending the program."""
        described = self._introduction("SPEC", stopped)
        if not isinstance(described, Spec):
            self._fail_to_describe(described, Game, "SPEC")
        self._check_description(checks.spec_problems(described.spec))
        return described.spec

    def handshake_game(self, stopped: Callable[[], bool] = never) -> MDPSpec:
        """HELLO both ways, then GAME. Raises as ``handshake`` does."""
        described = self._introduction("GAME", stopped)
        if not isinstance(described, Game):
            self._fail_to_describe(described, Spec, "GAME")
        self._check_description(game_problems(described.spec))
        return described.spec

    def _fail_to_describe(self, said: protocol.AnyMessage, other: type[Spec | Game], wanted: str) -> NoReturn:
        """Raise the error for a program that sent something else; ``other``: the message of the other kind of game."""
        kind = OtherGame if isinstance(said, other) else SimulatorError
        self._fail(f"answered HELLO with {protocol.type_name(said)} instead of {wanted}", permanent=True, kind=kind)

    def _check_description(self, problems: Sequence[str]) -> None:
        if problems:
            self.kill()
            sentences = [fault.message for fault in shown_faults(("", problem) for problem in problems)]
            raise WrongDescription(f"{self.label} describes a game that cannot be: {'; '.join(sentences)}", sentences)

    def _introduction(self, wanted: str, stopped: Callable[[], bool]) -> protocol.AnyMessage:
        wait = Wait(self._limits.handshake_s, "HELLO", "did not say HELLO", stopped)
        try:
            self._welcome(self._next(wait, self._hello))
            wait.awaited, wait.missing = f"its {wanted}", f"did not send its {wanted}"
            described = self._next(wait, self._message).message
        except Cancelled:
            self.kill()  # after half a handshake it cannot be used
            raise
        if isinstance(described, Error):
            self._fail(f"cannot begin: {_said(described).rstrip('.')}", permanent=described.permanent)
        return described

    def _hello(self, letter: Letter, wait: Wait) -> Hello | None:
        """The program's HELLO. Over TCP, where any user of this machine can connect, other messages are refused and the
        wait goes on; over ipc nobody else can connect, so there they are the program's mistake."""
        why = f"did not repeat the key it was given in {protocol.KEY_VARIABLE}"
        try:
            if sum(len(frame) for frame in letter.frames) > MAX_HELLO_BYTES:
                raise SimulatorError(f"its first message is larger than {MAX_HELLO_BYTES >> 10} KiB")
            message = protocol.decode(letter.frames).message
        except SimulatorError as error:
            why = f"sent a message that cannot be read: {error}"
        else:
            if isinstance(message, Hello) and secrets.compare_digest(message.key.encode(), self._key.encode()):
                self._line.admit(letter)
                return message
            if not isinstance(message, Hello):
                why = f"began with {protocol.type_name(message)} instead of HELLO"
        self._refuse(why, to=letter.sender)
        self._line.dismiss(letter)
        if self.transport == "ipc":
            self._fail(why, permanent=True)
        self._line.refused += 1
        return None

    def _welcome(self, hello: Hello) -> None:
        common = set(hello.versions) & set(protocol.VERSIONS)
        why = ""
        if hello.protocol != protocol.PROTOCOL:
            why = f"speaks {hello.protocol!r}, not {protocol.PROTOCOL!r}"
        elif not common:
            spoken, ours = list(hello.versions), list(protocol.VERSIONS)
            why = f"speaks versions {spoken} of {protocol.PROTOCOL} and this engine speaks {ours}"
        if why:
            self._refuse(why)
            self._fail(why, permanent=True)
        self.capabilities = frozenset(hello.capabilities)
        self.max_batch, self.pid = max(hello.max_batch, 0), hello.pid or self._process.reaper_pid
        self.send(Hello(versions=(max(common),), capabilities=tuple(sorted(self.capabilities))))

    def _refuse(self, why: str, *, to: bytes = b"") -> None:
        with contextlib.suppress(zmq.ZMQError):
            self._line.send(Error(code="refused", message=f"the program {why}", permanent=True), to=to)

    def look_for_more(self, seconds: float) -> None:
        """Wait so long for what must not come: another answer to the last request. Raises SimulatorError for one."""
        letter = self._line.receive(round(1000 * seconds))
        if letter is None or letter.sender != self._line.peer:
            return
        decoded = self._message(letter, Wait(seconds, "nothing more", "", never))
        number = None if decoded is None else getattr(decoded.message, "id", None)
        if decoded is not None and number:
            name = protocol.type_name(decoded.message)
            said = (
                f"answered request {number} twice: {name} with id {number} came again; every request is answered once"
            )
            self._fail(said, kind=NoConversation)

    def request(self, message: protocol.Request, arrays: Arrays, stopped: Callable[[], bool]) -> Decoded:
        """Send a request and wait for its answer; ``stopped`` is called about 20 times a second.

        Raises SimulatorError when the answer is ERROR or does not come in time, Cancelled once ``stopped`` returns True
        (the program has then obeyed CANCEL, or is gone).
        """
        self._first_id = self._first_id or message.id
        self.send(message, arrays)
        count = len(next(iter(arrays.values())))
        doing = f"{protocol.type_name(message)} of {count:,} battle{'s' if count != 1 else ''}"
        wait = Wait(message.deadline_ms / 1000, f"the answer to {doing}", f"did not answer {doing}", stopped)
        try:
            decoded = self._answer(message.id, wait)
        except Cancelled:
            self._cancel(message.id, doing)
            raise
        if isinstance(decoded.message, Error):
            error = decoded.message
            raise SimulatorError(f"{self.label} could not play {doing}: {_said(error)}", permanent=error.permanent)
        return decoded

    def _cancel(self, request: int, doing: str) -> None:
        """End the request: by CANCEL if the program offers it, otherwise by ending the program."""
        self.interrupted = False
        if "cancel" not in self.capabilities:
            self.kill()
            return
        with contextlib.suppress(SimulatorError):
            self.send(Cancel(id=request))
            what, missing = f"the end of {doing} after CANCEL", "did not obey CANCEL"
            decoded = self._answer(request, Wait(self._limits.cancel_s, what, missing, never, forgives=False))
            self.interrupted = isinstance(decoded.message, Error) and decoded.message.code == "cancelled"

    def _answer(self, request: int, wait: Wait) -> Decoded:
        decoded = self._next(wait, self._message)
        message = decoded.message
        number = getattr(message, "id", None)
        if isinstance(message, Error) and number == 0:
            self._fail(f"gave up: {_said(message)}", permanent=message.permanent)
        if number != request:
            self._fail(self._unasked(message, number, request, wait.awaited), kind=NoConversation)
        return decoded

    def _unasked(self, message: protocol.AnyMessage, number: int | None, request: int, awaited: str) -> str:
        """The problem of a message that is not the awaited answer."""
        name = protocol.type_name(message)
        if number is None:
            return f"sent {name} where {awaited} (id {request}) was awaited"
        if self._first_id <= number < request:
            return (
                f"answered request {number} twice: {name} with id {number} came again where {awaited} (id {request}) "
                "was awaited; every request is answered once"
            )
        return f"sent {name} with id {number} as {awaited}; that request has id {request}, which its answer repeats"

    def _message(self, letter: Letter, wait: Wait) -> Decoded | None:
        """The message, unless it only keeps the line alive."""
        try:
            decoded = protocol.decode(letter.frames)
        except protocol.WrongShape as error:
            if error.kind in (Spec, Game):
                self._check_description(_all_problems(error))
            self._fail(f"sent a message that cannot be read: {error}")
        except SimulatorError as error:
            self._fail(f"sent a message that cannot be read: {error}")
        if isinstance(decoded.message, Ping):
            self.send(Pong(id=decoded.message.id))
        if isinstance(decoded.message, Ping | Pong):
            self._stray(wait, protocol.type_name(decoded.message))
            return None
        if isinstance(decoded.message, Bye):
            self._fail("said BYE in the middle of its work")
        return decoded


def _said(error: Error) -> str:
    return printable(error.message, SAID)


def _all_problems(error: protocol.WrongShape) -> list[str]:
    """Problems of a description's keys, and further problems that can be found in spite of these."""
    if not isinstance(error.message, Spec):
        return error.problems
    return [*error.problems, *certain(checks.spec_problems(error.message.spec))]
