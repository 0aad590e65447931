"""A fast encoder for training: the same token ids as ``protocol.render(...).encode``, with loss weights.

Headers, names and tool declarations are encoded once and kept; everything else is encoded like the
product does, one text segment at a time. ``tests/test_training_data.py`` holds the two equal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kimi_sdk.messages import Message, Reasoning, Text, ToolCall, ToolResult
from kimi_sdk.protocol.tokenizer import Tokenizer
from training.data.document import ASSISTANT, DECLARED, PICTURED, TEXT, UNTRAINED, Document, Picked
from training.data.sample import Picture, Sample

DECLARE = '# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n[{"'
Patchify = Callable[[Picture], tuple[np.ndarray, tuple[int, int]]]


def compact(value: object) -> str:
    """JSON without blanks, keys sorted: how declarations and schemas are written."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Encoder:
    """Encodes samples with one tokenizer.

    Args:
        tokenizer: the product's tokenizer.
        patchify: ``picture -> (uint8 [n, 588], (patch rows, patch columns))``.
    """

    def __init__(self, tokenizer: Tokenizer, patchify: Patchify | None = None) -> None:
        self.tokenizer = tokenizer
        self.text = tokenizer.encoding.encode_ordinary
        self._patchify = patchify
        self._open, self._close, self._sep = tokenizer.open_id, tokenizer.close_id, tokenizer.sep_id
        self._names: dict[str, list[int]] = {}
        self._tools: dict[int, tuple[Mapping[str, Any], list[int]]] = {}
        self._user = self.opener("message", role="user")
        self._system = self.opener("message", role="system")
        self._assistant = self.opener("message", role="assistant")
        self._end = [*self.closer("message"), tokenizer.end_of_msg_id]
        self._think, self._think_end = self.opener("think"), self.closer("think")
        self._response, self._response_end = self.opener("response"), self.closer("response")
        self._channel, self._channel_end = self.opener("tools"), self.closer("tools")
        self._call_end, self._argument_end = self.closer("call"), self.closer("argument")

    def name(self, text: str) -> list[int]:
        """Ids of a text that comes often."""
        ids = self._names.get(text)
        if ids is None:
            if len(self._names) > 20000:
                self._names.clear()
            ids = self._names[text] = self.text(text)
        return ids

    def opener(self, tag: str, **attributes: str) -> list[int]:
        ids = [self._open, *self.name(tag)]
        for key, value in attributes.items():
            escaped = value.replace("&", "&amp;").replace('"', "&quot;")
            ids += [*self.name(f" {key}"), *self.name('="'), *self.name(escaped), *self.name('"')]
        ids.append(self._sep)
        return ids

    def closer(self, tag: str) -> list[int]:
        return [self._close, *self.name(tag), self._sep]

    def declaration(self, tools: list[Mapping[str, Any]]) -> list[int]:
        """Ids of the tool declaration's body. Each tool is one reusable stretch: the text between
        ``[{"`` or ``"},{"`` and the next one starts with a letter after punctuation and ends before it, so
        the tokenizer's regex always cuts there."""
        ids = list(self.name(DECLARE))
        between = self.name('"},{"')
        for number, tool in enumerate(tools):
            if number:
                ids += between
            kept = self._tools.get(id(tool))
            if kept is None or kept[0] is not tool:
                if len(self._tools) > 4000:
                    self._tools.clear()
                kept = self._tools[id(tool)] = (tool, self.text(compact(tool)[2:-2]))
            ids += kept[1]
        ids += self.name('"}]\n```')
        return ids

    def encode(self, sample: Sample, family: str = "") -> Document:
        """The whole conversation of ``sample`` as a document."""
        ids: list[int] = []
        runs: list[tuple[int, int]] = []
        images: list[Picked] = []

        def add(piece: list[int], weight: int) -> None:
            ids.extend(piece)
            runs.append((len(piece), weight))

        if sample.tools:
            add(self.opener("message", role="system", type="tool-declare"), UNTRAINED)
            add(self.declaration(sample.tools), DECLARED)
            add(self._end, UNTRAINED)
        if sample.thinking:
            add(self._note("thinking-effort", EFFORT.format(sample.effort)), UNTRAINED)
        final = len(sample.messages) - 1
        for at, message in enumerate(sample.messages):
            if message.role == "assistant":
                if at == final:
                    self._settings(sample, add)
                own = PICTURED if images else ASSISTANT
                self._reply(message, sample, add, own if at == final or not sample.last_only else TEXT)
            elif message.role == "tool":
                for number, result in enumerate(message.results, 1):
                    add(self.opener("message", role="tool", tool=result.name, index=str(number)), UNTRAINED)
                    self._content(result, ids, add, images)
                    add(self._end, UNTRAINED)
            else:
                add(self._user if message.role == "user" else self._system, UNTRAINED)
                self._content(message, ids, add, images)
                add(self._end, UNTRAINED)
        counts, weights = zip(*runs, strict=True)
        return Document(
            np.array(ids, np.uint16),
            np.repeat(np.array(weights, np.uint8), counts),
            tuple(images),
            family,
        )

    def _note(self, kind: str, body: str) -> list[int]:
        return [*self.opener("message", role="system", type=kind), *self.name(body), *self._end]

    def _settings(self, sample: Sample, add: Callable[[list[int], int], None]) -> None:
        if sample.tool_choice in CHOICE:
            add(self._note("tool-choice", CHOICE[sample.tool_choice]), UNTRAINED)
        if sample.response_format is not None:
            schema = compact(sample.response_format["json_schema"]["schema"])
            add(self.opener("message", role="system", type="response-format"), UNTRAINED)
            add(self.text(FORMAT + schema + "\n```"), DECLARED)
            add(self._end, UNTRAINED)

    def _content(
        self,
        holder: Message | ToolResult,
        ids: list[int],
        add: Callable[[list[int], int], None],
        images: list[Picked],
    ) -> None:
        parts = holder.content if isinstance(holder, ToolResult) else holder.parts
        for part in parts:
            if isinstance(part, Text):
                add(self.text(part.text), TEXT)
            elif isinstance(part, Picture):
                self._picture(part, ids, add, images)

    def _picture(
        self, part: Picture, ids: list[int], add: Callable[[list[int], int], None], images: list[Picked]
    ) -> None:
        assert self._patchify is not None
        patches, grid = self._patchify(part)
        width, height = part.size
        special = self.tokenizer
        head = [special.media_begin_id, *self.text(f"image {width}x{height}"), special.media_content_id]
        add(head, UNTRAINED)
        images.append(Picked(len(ids), patches, grid))
        add([special.media_pad_id] * (grid[0] * grid[1] // 4), UNTRAINED)
        add([special.media_end_id], UNTRAINED)

    def _reply(
        self, message: Message, sample: Sample, add: Callable[[list[int], int], None], weight: int
    ) -> None:
        out: list[int] = []
        text = ""
        add(self._assistant, UNTRAINED)
        calls: list[ToolCall] = []
        reasoning = ""
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.append(part)
            elif isinstance(part, Reasoning):
                reasoning = part.text
            elif isinstance(part, Text):
                text += part.text
        if sample.thinking:
            add(self._think, UNTRAINED)
            if reasoning:
                out += self.text(reasoning)
            out += self._think_end
            out += self._response
        else:
            add(self._response, UNTRAINED)
        if text:
            out += self.text(text)
        out += self._response_end
        if calls:
            out += self._channel
            for index, call in enumerate(calls, 1):
                out += self.opener("call", tool=call.name, index=str(index))
                for key, value in call.args.items():
                    kind, spelled = wire(value)
                    out += self.opener("argument", key=key, type=kind)
                    out += self.text(spelled)
                    out += self._argument_end
                out += self._call_end
            out += self._channel_end
        out += self._end
        add(out, weight)


def wire(value: object) -> tuple[str, str]:
    """The type attribute and the spelling of an argument value."""
    if isinstance(value, str):
        return "string", value
    if isinstance(value, bool):
        return "boolean", "true" if value else "false"
    if isinstance(value, (int, float)):
        return "number", json.dumps(value)
    if value is None:
        return "null", "null"
    return "array" if isinstance(value, (list, tuple)) else "object", json.dumps(value, ensure_ascii=False)


EFFORT = (
    "`thinking_effort` guides on how much to think in your thinking channel (not including the response "
    "channel), supported values include `low`, `medium`, `high`, and `max`.\n"
    "Now the system is invoked with `thinking_effort={}`."
)
FORMAT = (
    "The system is invoked with `response_format=json_schema`.\n"
    "Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting.\n"
    "The JSON data must match the following schema:\n```json\n"
)
CHOICE = {
    "required": "The system is invoked with `tool_choice=required`.\nYou MUST call tools in the next message.",
    "none": "The system is invoked with `tool_choice=none`.\nYou MUST NOT call any tools in the next message.",
}
