"""Settings of a wrong type are refused where they are written down, not in the middle of a batch."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_sdk import Limits, Model, Sampling
from kimi_sdk.errors import ConfigError


@pytest.mark.parametrize("value", [None, "0.5", (), float("nan"), True])
@pytest.mark.parametrize("name", ["temperature", "top_p"])
def test_sampling_takes_numbers(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        Sampling(**{name: value})


@pytest.mark.parametrize("value", [1.5, "5", (), True, float("nan")])
@pytest.mark.parametrize("name", ["seed", "max_tokens", "thinking_tokens", "logprobs"])
def test_sampling_takes_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        Sampling(**{name: value})


@pytest.mark.parametrize("change", [{"thinking": "no"}, {"stop": None}, {"stop": ["a"]}, {"stop": 3}])
def test_sampling_takes_flags_and_tuples(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Sampling(**change)


@pytest.mark.parametrize("value", ["x", (), float("nan"), True])
@pytest.mark.parametrize("name", ["steps", "tokens", "output_tokens", "tool_calls", "seconds", "repeats"])
def test_limits_take_numbers(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        Limits(**{name: value})


def test_limits_of_tokens_are_whole() -> None:
    with pytest.raises(ConfigError, match="output_tokens"):
        Limits(output_tokens=float("inf"))  # type: ignore[arg-type]


@pytest.mark.anyio
@pytest.mark.parametrize("prompt", [["a"], [1.5], [True], 3, None])
async def test_raw_prompts_are_text_or_ids(prompt: Any) -> None:
    with pytest.raises(ConfigError, match="prompt"):
        await Model.from_config("tiny").generate(prompt, sampling=Sampling(max_tokens=1))
