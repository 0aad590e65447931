"""How a turn is written, how much a run may spend, and what it did spend."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args

from kimi_sdk.errors import ConfigError

Effort: TypeAlias = Literal["low", "high", "max"]


def _check(settings: Any, name: str, kinds: tuple[type, ...], wanted: str) -> None:
    """Refuses a value of another type before the engine or the loop stumbles over it."""
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ConfigError(f"{type(settings).__name__}.{name} must be {wanted}, not {value!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the tokens of one turn are chosen.

    Attributes:
        temperature: 0 takes the most probable token; 1 samples the model's own distribution.
        top_p: smallest set of tokens whose probability reaches this value, in (0, 1].
        seed: makes the turn repeatable; ``None`` draws a fresh one.
        max_tokens: most tokens the turn may have, thoughts included; ``None`` is the context's end.
        thinking: whether the turn begins with a think channel.
        effort: how much the model is told to think.
        thinking_tokens: the engine closes the think channel at this many tokens.
        stop: strings that end the response where they appear; they are not part of it.
        logprobs: how many alternatives to report for every token; 0 reports none.
    """

    temperature: float = 1.0
    top_p: float = 0.95
    seed: int | None = None
    max_tokens: int | None = None
    thinking: bool = True
    effort: Effort = "max"
    thinking_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int = 0

    def __post_init__(self) -> None:
        for name in ("temperature", "top_p"):
            _check(self, name, (int, float), "a number")
        for name in ("max_tokens", "thinking_tokens", "seed"):
            _check(self, name, (int, NoneType), "a whole number or None")
        _check(self, "logprobs", (int,), "a whole number")
        if not isinstance(self.thinking, bool):
            raise ConfigError(f"Sampling.thinking must be True or False, not {self.thinking!r}.")
        if not 0.0 <= self.temperature <= 100.0:
            raise ConfigError(f"Sampling.temperature must lie in [0, 100], not {self.temperature!r}.")
        if not 0.0 < self.top_p <= 1.0:
            raise ConfigError(f"Sampling.top_p must lie in (0, 1], not {self.top_p!r}.")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"Sampling.max_tokens must be at least 1, not {self.max_tokens!r}.")
        if self.thinking_tokens is not None and self.thinking_tokens < 0:
            raise ConfigError(f"Sampling.thinking_tokens must not be negative: {self.thinking_tokens!r}.")
        if self.effort not in get_args(Effort):
            raise ConfigError(f"Sampling.effort must be one of {get_args(Effort)}, not {self.effort!r}.")
        if not isinstance(self.stop, tuple) or not all(isinstance(s, str) and s for s in self.stop):
            raise ConfigError("Sampling.stop must be a tuple of non-empty strings.")
        if not 0 <= self.logprobs <= 20:
            raise ConfigError(f"Sampling.logprobs must lie in 0..20, not {self.logprobs!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may spend; ``None`` is no limit. Each is checked before the spending.

    Attributes:
        steps: turns the model may write.
        tokens: prompt and output tokens, summed over all steps.
        output_tokens: output tokens, summed over all steps.
        tool_calls: calls that may be executed.
        seconds: wall-clock time of the run.
        repeats: how often in a row the same call may give the same result.
    """

    steps: int | None = 32
    tokens: int | None = None
    output_tokens: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    repeats: int | None = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "seconds":
                _check(self, field.name, (int, float, NoneType), "a number or None")
            else:
                _check(self, field.name, (int, NoneType), "a whole number or None")
            if value is not None and not value >= 0:
                raise ConfigError(f"Limits.{field.name} must not be negative: {value!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was spent, in tokens. Usages add.

    ``prompt_tokens`` includes ``cached_tokens`` and ``image_tokens``; ``output_tokens`` includes
    ``thinking_tokens`` and ``forced_tokens``.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    image_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    forced_tokens: int = 0
    steps: int = 0
    tool_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})
