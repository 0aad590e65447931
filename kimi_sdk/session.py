"""A conversation that several runs continue. Holds messages; leaves writing them to ``Agent``."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message
from kimi_sdk.settings import Usage


class Session:
    """Messages and what they cost. It grows by whole steps: a call is never without its result.

    The agent's instructions are not among the messages: they belong to the agent. One run at a time.
    """

    def __init__(self, messages: Sequence[Message] = (), *, id: str | None = None) -> None:  # noqa: A002
        self.id = id or uuid.uuid4().hex
        self._messages = tuple(messages)
        self._usage = Usage()
        self._busy = False

    @classmethod
    def new(cls, *, id: str | None = None) -> Self:  # noqa: A002
        """An empty session."""
        return cls(id=id)

    @property
    def messages(self) -> Sequence[Message]:
        return self._messages

    @property
    def usage(self) -> Usage:
        """Summed over all runs, also those that failed."""
        return self._usage

    def fork(self, *, at: int | None = None) -> Self:
        """A new session with the same past.

        Args:
            at: how many messages the new one keeps; ``None`` keeps all.

        Raises:
            ConfigError: ``at`` lies outside, or between a call and its result.
        """
        kept = len(self._messages) if at is None else at
        if not 0 <= kept <= len(self._messages):
            raise ConfigError(
                f"fork(at={at}) lies outside of this session, which has {len(self._messages)} messages."
            )
        if kept and self._messages[kept - 1].calls:
            raise ConfigError(
                f"fork(at={at}) would part calls from their results; use {kept - 1} or {kept + 1}."
            )
        return type(self)(self._messages[:kept])

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While a run works on the session.

        Raises:
            ConfigError: another run does.
        """
        if self._busy:
            raise ConfigError(
                f"Session {self.id} is in use by another run; wait for it, or give this one session.fork()."
            )
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def extend(self, messages: Sequence[Message]) -> None:
        """Appends whole steps."""
        self._messages = (*self._messages, *messages)

    def rewind(self, length: int, step: Message) -> None:
        """Takes back what an earlier attempt to go on from a pause has appended.

        Args:
            length: messages there were at the pause.
            step: the message in which the run paused; such an attempt has appended it.

        Raises:
            ConfigError: something else was appended since.
        """
        later = self._messages[length:]
        if later and not any(message is step for message in later):
            raise ConfigError(
                f"Session {self.id} has gone on since this run paused; the run cannot be resumed."
            )
        self._messages = self._messages[:length]

    def charge(self, usage: Usage) -> None:
        """Adds what a run has spent."""
        self._usage = self._usage + usage

    def __repr__(self) -> str:
        return f"<Session {self.id}: {len(self._messages)} messages>"
