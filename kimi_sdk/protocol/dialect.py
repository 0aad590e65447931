"""The wire format that a model speaks, told by its tokenizer's family: prompts, parser, end of thoughts.

The one K2-format model that the engine runs is Kimi-Linear, so that is the variant. The format has no words
for tool choice and response format; a caller that cannot enforce them must refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message
from kimi_sdk.protocol.k2_parse import K2TurnParser
from kimi_sdk.protocol.k2_render import render_k2
from kimi_sdk.protocol.parse import TurnParser
from kimi_sdk.protocol.render import render
from kimi_sdk.protocol.segments import Prompt, Start
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.settings import Effort

Declarations: TypeAlias = Sequence[Mapping[str, Any]]

_THOUGHT_ENDS = {
    "k3": ("<|close|>",),
    "k2": ("</think>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|im_end|>"),
}


def prompt_for(
    tokenizer: Tokenizer,
    messages: Sequence[Message | Mapping[str, Any]],
    *,
    tools: Declarations = (),
    thinking: bool = True,
    effort: Effort | None = "max",
    tool_choice: str = "auto",
    response_format: Mapping[str, Any] | None = None,
) -> Prompt:
    """The conversation in the model's own format; see ``render`` and ``render_k2``.

    Raises:
        ConfigError: what is wrong and where; or K2's format cannot say it.
    """
    if tokenizer.family == "k3":
        return render(
            messages,
            tools=tools,
            thinking=thinking,
            effort=effort,
            tool_choice=tool_choice,
            response_format=response_format,
        )
    if tool_choice not in ("auto", "none"):
        raise ConfigError(
            f"tool_choice {tool_choice!r} cannot be asked of a K2-format model; use 'auto' or 'none'."
        )
    if response_format is not None:
        raise ConfigError("A typed output cannot be asked of a K2-format model; ask for text.")
    return render_k2(messages, variant="kimi-linear", tools=tools, thinking=thinking)


def parser_for(
    tokenizer: Tokenizer, *, start: Start, tools: Sequence[str] | None, tools_declared: bool
) -> TurnParser | K2TurnParser:
    """A parser of token ids for one turn.

    Args:
        tokenizer: of the model.
        start: the channel that the prompt left open.
        tools: names of the declared tools, if they are known; K2's damaged ids are read by them.
        tools_declared: whether calls count.
    """
    if tokenizer.family == "k2":
        return K2TurnParser(start=start, tokenizer=tokenizer, tools=tools, tools_declared=tools_declared)
    # Under a grammar no think channel is skipped: what stands in it is thought.
    return TurnParser(
        start=start, tokenizer=tokenizer, tools_declared=tools_declared, skipped_think="reasoning"
    )


def thought_ends(tokenizer: Tokenizer) -> frozenset[int]:
    """The tokens that end a thought and are not part of it."""
    names = _THOUGHT_ENDS[tokenizer.family]
    return frozenset(tokenizer.specials[name] for name in names if name in tokenizer.specials)
