"""Writes a conversation in the wire format of K2 to K2.6, as control and text segments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message
from kimi_sdk.protocol.conversation import Call, Content, Entry, Picture, normalise
from kimi_sdk.protocol.k2_types import UntypableError, declare
from kimi_sdk.protocol.render import IMAGE_PLACEHOLDER, compact, declared_names
from kimi_sdk.protocol.segments import Prompt, SegmentWriter, Size, Sized

Variant: TypeAlias = Literal["k2-early", "k2", "kimi-linear", "k2-thinking", "k2.5", "k2.6"]

_EARLY_SYSTEM = "You are a helpful assistant"
_SYSTEM = "You are Kimi, an AI assistant created by Moonshot AI."
_WIRE_ID = re.compile(r"functions\.(.+):\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Style:
    """What differs among the variants."""

    system: str
    typed_tools: bool = False
    spaced_tools: bool = False
    named: bool = False
    thinks: bool = False
    opens_think: bool = False
    keeps_thoughts: bool = False


_STYLES: dict[Variant, _Style] = {
    "k2-early": _Style(_EARLY_SYSTEM, spaced_tools=True),
    "k2": _Style(_SYSTEM),
    "kimi-linear": _Style(_SYSTEM, named=True),
    "k2-thinking": _Style(_SYSTEM, named=True, thinks=True),
    "k2.5": _Style("", typed_tools=True, named=True, thinks=True, opens_think=True),
    "k2.6": _Style("", typed_tools=True, named=True, thinks=True, opens_think=True, keeps_thoughts=True),
}


def render_k2(
    messages: Sequence[Message | Mapping[str, Any]],
    *,
    variant: Variant = "k2.5",
    tools: Sequence[Mapping[str, Any]] | None = (),
    thinking: bool = True,
    images: Sequence[Sized | Size] | None = None,
    add_generation_prompt: bool = True,
) -> Prompt:
    """Renders a conversation for a K2 model; encode it with a tokenizer of family ``"k2"``.

    Ids of past calls are written as given if they have K2's form ``functions.NAME:N``; others are replaced
    by that form, counting all calls of the conversation from 0, and so are the ids in their results.

    Args:
        messages: as for K3's ``render``, but without tools that are declared later.
        variant: whose format; ``"k2.6"`` is K2.5's with all past thoughts kept.
        tools: declarations.
        thinking: whether K2.5's answer begins with thoughts, and past ones are written at all.
        images: sizes or images for the image parts of dict messages.
        add_generation_prompt: whether to open the assistant's turn.

    Raises:
        ConfigError: what is wrong and where.
    """
    if variant not in _STYLES:
        raise ConfigError(f"variant must be one of {', '.join(map(repr, _STYLES))}, not {variant!r}.")
    style = _STYLES[variant]
    entries = normalise(messages, images)
    tools = () if tools is None else tools
    declared_names(tools, entries)
    for entry in entries:
        if entry.tools:
            raise ConfigError(f"{entry.where}: K2's format has no tools that are declared later.")
    writer = _Writer(style, keeps=thinking or not style.opens_think)
    if tools:
        writer.message("<|im_system|>", "tool_declare", (_declaration(tools, style),))
    if style.system and (not entries or entries[0].role != "system"):
        writer.message("<|im_system|>", "system", (style.system,))
    prefill = entries.pop() if entries and entries[-1].partial else None
    writer.conversation(entries)
    if prefill is not None:
        return writer.continued(prefill)
    if not add_generation_prompt:
        return writer.segments.prompt("idle")
    return writer.opened(thinking)


def _declaration(tools: Sequence[Mapping[str, Any]], style: _Style) -> str:
    if style.typed_tools:
        try:
            return declare(tools)
        except UntypableError:
            return compact(list(tools))
    separators = (", ", ": ") if style.spaced_tools else (",", ":")
    try:
        return json.dumps(list(tools), ensure_ascii=False, allow_nan=False, separators=separators)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"Cannot write the tools as JSON: {error}.") from error


class _Writer:
    def __init__(self, style: _Style, *, keeps: bool) -> None:
        self.segments = SegmentWriter()
        self._style = style
        self._keeps = keeps
        self._calls = 0
        self._results: list[tuple[str, str]] = []

    def conversation(self, entries: list[Entry]) -> None:
        answers = [at for at, entry in enumerate(entries) if entry.role == "assistant" and not entry.calls]
        final = answers[-1] if answers else -1
        leading = True
        for at, entry in enumerate(entries):
            if leading and entry.role != "system":
                self.segments.boundary("head")
                leading = False
            if entry.role == "assistant":
                self._assistant(entry, keep=self._style.keeps_thoughts or at > final)
            elif entry.role == "tool":
                answered = self._answered(entry)
                content = (f"## Return of {answered}\n", *entry.content)
                self.message("<|im_system|>", entry.tool or entry.name or "tool", content)
            else:
                self.message(f"<|im_{entry.role}|>", self._word(entry), entry.content)
            self.segments.boundary("message")
        if leading:
            self.segments.boundary("head")

    def opened(self, thinking: bool) -> Prompt:
        self.segments.control("<|im_assistant|>")
        self.segments.text("assistant")
        self.segments.control("<|im_middle|>")
        if not self._style.opens_think:
            return self.segments.prompt("response")
        self.segments.control("<think>")
        if thinking:
            return self.segments.prompt("think")
        self.segments.control("</think>")
        return self.segments.prompt("response")

    def continued(self, entry: Entry) -> Prompt:
        """The beginning of an answer that the model continues; its thoughts are over."""
        self._said(entry, keep=True)
        return self.segments.prompt("response")

    def message(self, marker: str, word: str, content: Content) -> None:
        self._open(marker, word)
        self._content(content)
        self.segments.control("<|im_end|>")

    def _open(self, marker: str, word: str) -> None:
        self.segments.control(marker)
        self.segments.text(word)
        self.segments.control("<|im_middle|>")

    def _word(self, entry: Entry) -> str:
        return (entry.name if self._style.named else "") or entry.role

    def _content(self, content: Content) -> None:
        # The text between two control tokens is one segment: K2's templates encode it in one piece.
        text = ""
        for part in content:
            if not isinstance(part, Picture):
                text += part
            elif part.image is None:
                text += IMAGE_PLACEHOLDER
            else:
                self.segments.text(text)
                text = ""
                picture = "<|media_begin|>image<|media_content|><|media_pad|><|media_end|>"
                self.segments.control(picture, part.image)
        self.segments.text(text)

    def _said(self, entry: Entry, *, keep: bool) -> None:
        self._open("<|im_assistant|>", self._word(entry))
        if self._style.thinks:
            self.segments.control("<think>")
            self.segments.text(entry.reasoning if keep and self._keeps else "")
            self.segments.control("</think>")
        self._content(entry.content)

    def _assistant(self, entry: Entry, *, keep: bool) -> None:
        self._said(entry, keep=keep)
        if entry.calls:
            self._results = []
            self.segments.control("<|tool_calls_section_begin|>")
            for call in entry.calls:
                self._call(call)
            self.segments.control("<|tool_calls_section_end|>")
        self.segments.control("<|im_end|>")

    def _call(self, call: Call) -> None:
        wire_id = call.id if _WIRE_ID.fullmatch(call.id) else f"functions.{call.name}:{self._calls}"
        self._calls += 1
        self._results.append((call.id, wire_id))
        self.segments.control("<|tool_call_begin|>")
        self.segments.text(wire_id)
        self.segments.control("<|tool_call_argument_begin|>")
        self.segments.text(_arguments(call))
        self.segments.control("<|tool_call_end|>")

    def _answered(self, entry: Entry) -> str:
        """The wire id of the call that a result answers: by its id, else the next call without a result."""
        for at, (call_id, wire_id) in enumerate(self._results):
            if entry.call_id in (call_id, wire_id):
                del self._results[at]
                return wire_id
        if _WIRE_ID.fullmatch(entry.call_id):
            return entry.call_id
        if not self._results:
            raise ConfigError(f"{entry.where}: this tool result answers no call of the assistant before it.")
        return self._results.pop(0)[1]


def _arguments(call: Call) -> str:
    if isinstance(call.arguments, str) or call.source.strip():
        return call.source
    try:
        return json.dumps(dict(call.arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"Cannot write the arguments of {call.name!r} as JSON: {error}.") from error
