"""What one turn gave: the typed output, the message it was read from, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from typing_extensions import TypeVar

from kimi_sdk.backend import TokenLogprob, Turn
from kimi_sdk.errors import ConfigError, OutputError
from kimi_sdk.events import FinishReason
from kimi_sdk.messages import Message
from kimi_sdk.output import Constraint
from kimi_sdk.settings import Usage

T_co = TypeVar("T_co", covariant=True, default=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T_co]):
    """One answered turn of ``Model.chat`` or ``Model.generate``.

    Attributes:
        message: the assistant message as it enters a history: thoughts, text, calls.
        usage: tokens of this turn.
        finish_reason: ``"length"`` says that the turn was cut by a cap.
        logprobs: one entry a token, where ``Sampling.logprobs`` asked for them.
        token_ids: the tokens as the model wrote them.
    """

    message: Message
    usage: Usage
    finish_reason: FinishReason
    logprobs: Sequence[TokenLogprob] = field(default=(), repr=False)
    token_ids: Sequence[int] = field(default=(), repr=False)
    outputs: tuple[T_co, ...] = field(default=(), repr=False)

    @property
    def output(self) -> T_co:
        """The answer. Raises ConfigError where the turn ended in calls, which have to be answered first."""
        if not self.outputs:
            names = ", ".join(call.name for call in self.message.calls)
            raise ConfigError(f"This reply has no output: the model asked for calls ({names}).")
        return self.outputs[0]

    def __str__(self) -> str:
        return str(self.outputs[0]) if self.outputs else self.message.text


def read_output(turn: Turn, constraint: Constraint[Any] | None) -> Any:
    """The typed value of a turn without calls.

    Raises:
        ValueError: the text does not satisfy the validators of the type.
    """
    return turn.message.text if constraint is None else constraint.validate(turn.message.text)


def reply_of(turn: Turn, constraint: Constraint[Any] | None, history: Sequence[Message]) -> Reply[Any]:
    """Reads a finished turn.

    Raises:
        OutputError: the typed output was cut short, or its validators refuse it.
    """
    outputs: tuple[Any, ...] = ()
    if not turn.message.calls:
        try:
            outputs = (read_output(turn, constraint),)
        except ValueError as error:
            cut = " It was cut by max_tokens." if turn.finish_reason == "length" else ""
            raise OutputError(
                f"The output does not validate.{cut} {error}",
                messages=(*history, turn.message),
                usage=turn.usage,
            ) from error
    return Reply(
        message=turn.message,
        usage=turn.usage,
        finish_reason=turn.finish_reason,
        logprobs=turn.logprobs,
        token_ids=turn.token_ids,
        outputs=outputs,
    )
