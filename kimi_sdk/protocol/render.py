"""Writes a conversation in K3's wire format, as control and text segments.

Knows the tags, their attributes and their order; leaves checking and the forms of input to
``conversation`` and the ids to ``segments``. Nothing that comes from outside ever becomes a control segment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message
from kimi_sdk.protocol.conversation import Call, Entry, Picture, normalise
from kimi_sdk.protocol.segments import Prompt, SegmentWriter, Size, Sized, Start, size_of
from kimi_sdk.settings import Effort

ToolChoice: TypeAlias = "str | Mapping[str, Any] | None"

IMAGE_PLACEHOLDER = "<|kimi_image_placeholder|>"

_DECLARE = "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n{}\n```"
_EXTEND = (
    "## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\n"
    "You have access to all existing and extended tools.\n"
    "Here are the specs for the extended tools.\n\n```json\n{}\n```"
)
_EFFORT = (
    "`thinking_effort` guides on how much to think in your thinking channel (not including the response "
    "channel), supported values include `low`, `medium`, `high`, and `max`.\n"
    "Now the system is invoked with `thinking_effort={}`."
)
_CHOICE = {
    "required": "The system is invoked with `tool_choice=required`.\n"
    "You MUST call tools in the next message.",
    "none": "The system is invoked with `tool_choice=none`.\n"
    "You MUST NOT call any tools in the next message.",
}
_FORMAT = (
    "The system is invoked with `response_format={}`.\nYour response must be raw JSON data without markdown "
    "code blocks (```json) or any additional formatting."
)
_SCHEMA = "\nThe JSON data must match the following schema:\n```json\n{}\n```"


def render(
    messages: Sequence[Message | Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = (),
    thinking: bool = True,
    effort: Effort | None = "max",
    tool_choice: ToolChoice = "auto",
    response_format: Mapping[str, Any] | None = None,
    images: Sequence[Sized | Size] | None = None,
    add_generation_prompt: bool = True,
) -> Prompt:
    """Renders a conversation.

    Args:
        messages: ``Message`` values, or dicts as in OpenAI's chat API (a system message may carry ``tools``,
            the last assistant message may be ``partial``).
        tools: declarations ``{"type": "function", "function": {...}}``, written as they are.
        thinking: whether the model thinks, and past thoughts are kept.
        effort: how much it is told to think; ``None`` says nothing.
        tool_choice: ``"auto"``, ``"required"``, ``"none"``, a tool's name or OpenAI's named form. A named
            tool renders as ``"required"``; the grammar pins the name.
        response_format: ``{"type": "text" | "json_object" | "json_schema", ...}``.
        images: sizes or images for the image parts of dict messages, in order. Without it those parts
            become a placeholder's text.
        add_generation_prompt: whether to open the assistant's turn.

    Raises:
        ConfigError: what is wrong and where.
    """
    entries = normalise(messages, images)
    tools = () if tools is None else tools
    names = declared_names(tools, entries)
    writer = SegmentWriter()
    if tools:
        _internal(writer, "tool-declare", _DECLARE.format(compact(list(tools))))
    if effort is not None and effort not in get_args(Effort):
        raise ConfigError(f"effort must be one of {get_args(Effort)} or None, not {effort!r}.")
    if thinking and effort is not None:
        _internal(writer, "thinking-effort", _EFFORT.format(effort))
    prefill = entries.pop() if entries and entries[-1].partial else None
    _conversation(writer, entries, thinking)
    choice = _choice(tool_choice, names)
    if choice in _CHOICE:
        _internal(writer, "tool-choice", _CHOICE[choice])
    described = _format(response_format)
    if described:
        _internal(writer, "response-format", described)
    start: Start = "idle"
    if prefill is not None:
        start = _open_turn(writer, prefill, thinking)
    elif add_generation_prompt:
        _open(writer, "message", role="assistant")
        start = _open_channel(writer, "think" if thinking else "response")
    return writer.prompt(start)


def compact(value: object) -> str:
    """JSON without blanks, object keys sorted at every depth by code point.

    Raises:
        ConfigError: the value is not JSON.
    """
    return _json(value, sort_keys=True, separators=(",", ":"))


def _json(value: object, **style: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, **style)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"Cannot write {value!r:.80} as JSON: {error}.") from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def typed(value: object) -> tuple[str, str]:
    """Wire type and text of one argument: strings raw, everything else as JSON with blanks."""
    if isinstance(value, str):
        return "string", value
    if isinstance(value, bool):
        return "boolean", "true" if value else "false"
    if value is None:
        return "null", "null"
    if isinstance(value, (int, float)):
        return "number", _json(value)
    if isinstance(value, Mapping):
        return "object", _json(value)
    if isinstance(value, (list, tuple)):
        return "array", _json(value)
    raise ConfigError(f"An argument must be a JSON value, not {type(value).__name__}.")


def _escape(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")


def _open(writer: SegmentWriter, tag: str, **attributes: str) -> None:
    writer.control("<|open|>")
    writer.text(tag)
    for key, value in attributes.items():
        writer.text(f" {key}")
        writer.text('="')
        writer.text(_escape(value))
        writer.text('"')
    writer.control("<|sep|>")


def _close(writer: SegmentWriter, tag: str) -> None:
    writer.control("<|close|>")
    writer.text(tag)
    writer.control("<|sep|>")


def _end(writer: SegmentWriter) -> None:
    _close(writer, "message")
    writer.control("<|end_of_msg|>")


def _internal(writer: SegmentWriter, kind: str, body: str) -> None:
    _open(writer, "message", role="system", type=kind)
    writer.text(body.strip())
    _end(writer)


def _element(writer: SegmentWriter, tag: str, body: str, **attributes: str) -> None:
    _open(writer, tag, **attributes)
    writer.text(body)
    _close(writer, tag)


def _content(writer: SegmentWriter, entry: Entry) -> None:
    for part in entry.content:
        if not isinstance(part, Picture):
            writer.text(part)
        elif part.image is None:
            writer.text(IMAGE_PLACEHOLDER)
        else:
            width, height = size_of(part.image)
            writer.control(
                f"<|media_begin|>image {width}x{height}<|media_content|><|media_pad|><|media_end|>",
                part.image,
            )


def _named(entry: Entry) -> dict[str, str]:
    return {"role": entry.role} | ({"name": entry.name} if entry.name else {})


def _conversation(writer: SegmentWriter, entries: list[Entry], thinking: bool) -> None:
    leading = True
    for entry, index in _results_in_call_order(entries):
        if leading and entry.role != "system":
            writer.boundary("head")
            leading = False
        if entry.role == "assistant":
            _assistant(writer, entry, thinking)
        elif entry.role == "tool":
            _open(writer, "message", role="tool", tool=entry.tool, index=str(index))
            _content(writer, entry)
        elif entry.tools:
            _open(writer, "message", role="system", type="tool-declare")
            writer.text(_EXTEND.format(compact(list(entry.tools))))
        else:
            _open(writer, "message", **_named(entry))
            _content(writer, entry)
        _end(writer)
        writer.boundary("message")
    if leading:
        writer.boundary("head")


def _thoughts(writer: SegmentWriter, entry: Entry) -> None:
    _element(writer, "think", entry.reasoning if entry.reasoning.strip() else "")


def _assistant(writer: SegmentWriter, entry: Entry, thinking: bool) -> None:
    _open(writer, "message", **_named(entry))
    if thinking:
        _thoughts(writer, entry)
    _open(writer, "response")
    _content(writer, entry)
    _close(writer, "response")
    if entry.calls:
        _open(writer, "tools")
        for index, call in enumerate(entry.calls, start=1):
            _call(writer, call, index)
        _close(writer, "tools")


def _call(writer: SegmentWriter, call: Call, index: int) -> None:
    _open(writer, "call", tool=call.name, index=str(index))
    if isinstance(call.arguments, str):
        _element(writer, "json", call.arguments, type="object")
    else:
        for key, value in call.arguments.items():
            kind, text = typed(value)
            _element(writer, "argument", text, key=key, type=kind)
    _close(writer, "call")


def _open_turn(writer: SegmentWriter, entry: Entry, thinking: bool) -> Start:
    _open(writer, "message", **_named(entry))
    if thinking:
        _thoughts(writer, entry)
    start = _open_channel(writer, "response")
    _content(writer, entry)
    return start


def _open_channel(writer: SegmentWriter, tag: Literal["think", "response"]) -> Start:
    position = writer.position
    _open(writer, tag)
    writer.opened_from(position)
    return tag


def _results_in_call_order(entries: Iterable[Entry]) -> list[tuple[Entry, int]]:
    """Entries with, for tool results, their name and their number since the last assistant message."""
    ordered: list[tuple[Entry, int]] = []
    run: list[Entry] = []
    calls: tuple[Call, ...] = ()
    count = 0
    for entry in (*entries, None):
        if entry is not None and entry.role == "tool":
            run.append(entry)
            continue
        for result in _sorted_run(run, calls):
            count += 1
            ordered.append((_with_tool_name(result, calls, count), count))
        run = []
        if entry is not None:
            ordered.append((entry, 0))
            if entry.role == "assistant":
                calls, count = entry.calls, 0
    return ordered


def _positions(calls: tuple[Call, ...]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for position, call in enumerate(calls):
        if call.id:
            positions.setdefault(call.id, position)
    for position, call in enumerate(calls):
        positions.setdefault(f"{call.name}:{position}", position)
    return positions


def _sorted_run(run: list[Entry], calls: tuple[Call, ...]) -> list[Entry]:
    positions = _positions(calls)
    if not all(entry.call_id in positions for entry in run):
        return run
    run = sorted(run, key=lambda entry: positions[entry.call_id])
    return [replace(entry, tool=calls[positions[entry.call_id]].name) for entry in run]


def _with_tool_name(entry: Entry, calls: tuple[Call, ...], number: int) -> Entry:
    if entry.tool:
        return entry
    position = _positions(calls).get(entry.call_id, number - 1)
    if position >= len(calls):
        raise ConfigError(
            f"{entry.where}: this tool result answers no call of the assistant before it; give its "
            f"'tool_call_id' or the tool's 'name'."
        )
    return replace(entry, tool=calls[position].name)


def declared_names(tools: Sequence[Mapping[str, Any]], entries: list[Entry]) -> set[str]:
    """Names of all declared tools, each declared once and well named; ``ConfigError`` if not."""
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Sequence):
        raise ConfigError(f"tools must be a list of declarations, not {type(tools).__name__}.")
    names: set[str] = set()
    declared = [(f"tools[{number}]", tool) for number, tool in enumerate(tools)]
    for entry in entries:
        declared += [(f"{entry.where}.tools[{number}]", tool) for number, tool in enumerate(entry.tools)]
    for where, tool in declared:
        name = _declared_name(tool, where)
        if name in names:
            raise ConfigError(f"{where}: tool {name!r} is declared twice.")
        names.add(name)
    return names


def _declared_name(tool: object, where: str) -> str:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or not isinstance(function, Mapping):
        raise ConfigError(f"{where} must be a dict with a 'function' dict.")
    if tool.get("type", "function") != "function":
        raise ConfigError(f"{where}: unknown tool type {tool['type']!r}; only 'function' is known.")
    name = function.get("name")
    if not isinstance(name, str) or not name[:1].isalpha() or "@" in name or len(name) > 256:
        raise ConfigError(
            f"{where}: bad tool name {name!r:.300}; it must start with a letter, hold no '@' and have at "
            f"most 256 characters."
        )
    return name


def _choice(tool_choice: ToolChoice, names: set[str]) -> str:
    if tool_choice is None or tool_choice in ("auto", "none"):
        return tool_choice or "auto"
    if tool_choice == "required":
        if not names:
            raise ConfigError("tool_choice 'required' needs at least one tool.")
        return "required"
    name: object = tool_choice
    if isinstance(tool_choice, Mapping):
        function = tool_choice.get("function")
        name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or name not in names:
        raise ConfigError(
            "tool_choice must be 'auto', 'required', 'none' or the name of a declared tool, "
            f"not {tool_choice!r:.200}."
        )
    return "required"


def _format(response_format: Mapping[str, Any] | None) -> str:
    if response_format is None:
        return ""
    kind = response_format.get("type") if isinstance(response_format, Mapping) else response_format
    if kind == "text":
        return ""
    if kind == "json_object":
        return _FORMAT.format(kind)
    if kind != "json_schema":
        raise ConfigError(
            f"response_format type must be 'text', 'json_object' or 'json_schema', not {kind!r:.80}."
        )
    wrapper = response_format.get("json_schema")
    if not isinstance(wrapper, Mapping):
        raise ConfigError("response_format 'json_schema' needs a 'json_schema' dict with a 'schema'.")
    given = (wrapper.get(key) for key in ("schema", "json_schema"))
    schema = next((one for one in given if one is not None), wrapper)
    if not isinstance(schema, (Mapping, bool)):
        raise ConfigError(f"The schema of response_format must be a JSON Schema, not {schema!r:.80}.")
    return (_FORMAT.format(kind) + _SCHEMA.format(compact(schema))).strip()
