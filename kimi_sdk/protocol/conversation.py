"""Messages in one small internal form, whether they came as ``Message`` values or as OpenAI-style dicts.

Checks everything that can be wrong with them and says where; ``render`` then writes them down without asking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message, Reasoning, Text, ToolCall, ToolResult
from kimi_sdk.protocol.segments import Size, Sized

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_TEXT_TYPES = ("text", "input_text", "output_text")
_IMAGE_TYPES = ("image_url", "image", "input_image")


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in a content; ``image`` is ``None`` when the caller gave no images at all."""

    image: Sized | Size | None


Content: TypeAlias = tuple[str | Picture, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A past call.

    Attributes:
        id: as the client gave it.
        name: of the tool.
        arguments: a string when the client's text was not JSON.
        source: the client's text, if it gave text.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the wire. ``where`` names its origin in errors; ``tool`` is a result's tool name."""

    where: str
    role: str
    content: Content = ()
    name: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    partial: bool = False
    call_id: str = ""
    tool: str = ""


def normalise(
    messages: Sequence[Message | Mapping[str, Any]], images: Sequence[Sized | Size] | None
) -> list[Entry]:
    """The entries of a conversation, in the given order.

    Args:
        messages: ``Message`` values or dicts with ``role`` and ``content``.
        images: what the image parts of dict messages stand for, in order.

    Raises:
        ConfigError: anything that cannot be written down, with its place.
    """
    if isinstance(messages, (str, bytes, Mapping, Message)) or not isinstance(messages, Sequence):
        raise ConfigError(f"messages must be a list of messages, not {type(messages).__name__}.")
    supply = None if images is None else iter(images)
    entries: list[Entry] = []
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        if isinstance(message, Message):
            entries += _from_message(message, where)
        elif isinstance(message, Mapping):
            entries.append(_from_dict(message, where, supply))
        else:
            raise ConfigError(f"{where} must be a Message or a dict, not {type(message).__name__}.")
    if supply is not None and next(supply, None) is not None:
        raise ConfigError("There are more images than image parts in the messages.")
    for entry in entries:
        _check_partial(entry, last=entry is entries[-1])
    return entries


def _check_partial(entry: Entry, *, last: bool) -> None:
    if not entry.partial:
        return
    if entry.role != "assistant" or not last:
        raise ConfigError(f"{entry.where}: only the last message, an assistant's, can be partial.")
    if entry.calls:
        raise ConfigError(f"{entry.where}: a partial message cannot carry tool calls.")


def _from_message(message: Message, where: str) -> list[Entry]:
    role = _role(message.role, where)
    name = _text(message.name, f"{where}.name")
    if role == "tool":
        return _from_results(message, where)
    content: list[str | Picture] = []
    calls: list[Call] = []
    for number, part in enumerate(message.parts):
        here = f"{where}.parts[{number}]"
        if isinstance(part, Text):
            content.append(_text(part.text, here))
        elif isinstance(part, (Reasoning, ToolCall)) and role == "assistant":
            if isinstance(part, ToolCall):
                calls.append(Call(part.id, _call_name(part.name, here), _arguments(part.args, here)))
        elif isinstance(part, (Reasoning, ToolCall, ToolResult)):
            raise ConfigError(f"{here}: a {role} message cannot hold a {type(part).__name__}.")
        else:
            content.append(_picture(part, here))
    return [Entry(where, role, tuple(content), name=name, reasoning=message.reasoning, calls=tuple(calls))]


def _from_results(message: Message, where: str) -> list[Entry]:
    if not message.parts:
        raise ConfigError(f"{where}: a tool message must hold at least one ToolResult.")
    entries = []
    for number, result in enumerate(message.parts):
        here = f"{where}.parts[{number}]"
        if not isinstance(result, ToolResult):
            raise ConfigError(
                f"{here}: a tool message holds only ToolResult parts, not {type(result).__name__}."
            )
        content = tuple(
            part.text if isinstance(part, Text) else _picture(part, here) for part in result.content
        )
        entries.append(Entry(here, "tool", content, call_id=result.call_id, tool=result.name))
    return entries


def _picture(part: object, where: str) -> Picture:
    size = getattr(part, "size", None)
    if not _is_size(size):
        raise ConfigError(f"{where}: cannot write a {type(part).__name__} into a prompt.")
    return Picture(part)  # type: ignore[arg-type]


def _is_size(size: object) -> bool:
    return (
        isinstance(size, tuple)
        and len(size) == 2
        and all(isinstance(side, int) and side > 0 for side in size)
    )


def _from_dict(message: Mapping[str, Any], where: str, images: Iterator[Sized | Size] | None) -> Entry:
    role = _role(message.get("role"), where)
    entry = Entry(
        where,
        role,
        _content(message.get("content"), where, images),
        name=_text(message.get("name"), f"{where}.name"),
        partial=_flag(message.get("partial"), f"{where}.partial"),
    )
    tools = message.get("tools")
    if tools:
        return _dynamic_tools(entry, tools)
    if role == "assistant":
        reasoning = _text(message.get("reasoning_content"), f"{where}.reasoning_content")
        reasoning = reasoning or _text(message.get("reasoning"), f"{where}.reasoning")
        return replace(entry, reasoning=reasoning, calls=_calls(message.get("tool_calls"), where))
    if message.get("tool_calls"):
        raise ConfigError(f"{where}: only an assistant message can carry tool_calls, not a {role} message.")
    if role == "tool":
        call_id = message.get("tool_call_id") or message.get("id")
        return replace(
            entry,
            call_id=_text(call_id, f"{where}.tool_call_id"),
            tool=_text(message.get("tool"), f"{where}.tool") or entry.name,
        )
    return entry


def _dynamic_tools(entry: Entry, tools: object) -> Entry:
    if entry.role != "system":
        raise ConfigError(
            f"{entry.where}: only a system message can declare tools, not a {entry.role} message."
        )
    if entry.content and entry.content != ("",):
        raise ConfigError(f"{entry.where}: a system message that declares tools cannot have content as well.")
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Sequence):
        raise ConfigError(f"{entry.where}.tools must be a list, not {type(tools).__name__}.")
    return replace(entry, tools=tuple(tools), content=())


def _content(value: object, where: str, images: Iterator[Sized | Size] | None) -> Content:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Sequence):
        raise ConfigError(
            f"{where}.content must be text, a list of parts or None, not {type(value).__name__}."
        )
    return tuple(_part(part, f"{where}.content[{number}]", images) for number, part in enumerate(value))


def _part(part: object, where: str, images: Iterator[Sized | Size] | None) -> str | Picture:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise ConfigError(f"{where} must be text or a dict with a type, not {type(part).__name__}.")
    kind = part.get("type")
    if kind in _TEXT_TYPES:
        if not isinstance(part.get("text"), str):
            raise ConfigError(f"{where}.text must be a string.")
        return str(part["text"])
    if kind not in _IMAGE_TYPES:
        raise ConfigError(f"{where}: unknown part type {kind!r}; use one of 'text' and 'image_url'.")
    if images is None:
        return Picture(None)
    image = next(images, None)
    if image is None:
        raise ConfigError(f"{where}: there are fewer images than image parts in the messages.")
    if not _is_size(image if isinstance(image, tuple) else getattr(image, "size", None)):
        raise ConfigError(
            f"{where}: an image must be a (width, height) pair or have a size, not {image!r:.80}."
        )
    return Picture(image)


def _calls(value: object, where: str) -> tuple[Call, ...]:
    if value is None:
        return ()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise ConfigError(f"{where}.tool_calls must be a list, not {type(value).__name__}.")
    calls = []
    for number, call in enumerate(value):
        here = f"{where}.tool_calls[{number}]"
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(function, Mapping):
            raise ConfigError(f"{here} must be a dict with a 'function' dict.")
        given = function.get("arguments")
        calls.append(
            Call(
                _text(call.get("id"), f"{here}.id"),
                _call_name(function.get("name"), here),
                _arguments(given, here),
                source=given if isinstance(given, str) else "",
            )
        )
    return tuple(calls)


def _call_name(name: object, where: str) -> str:
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{where}: a tool call needs the tool's name, not {name!r}.")
    return name


def _arguments(value: object, where: str) -> Mapping[str, Any] | str:
    if value is None:
        return {}
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            parsed: object = json.loads(value, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError):
            return value
    else:
        parsed = value
    if not isinstance(parsed, Mapping) or not all(isinstance(key, str) for key in parsed):
        raise ConfigError(f"{where}: the arguments of a call must be a JSON object, not {parsed!r:.80}.")
    return parsed


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON.")


def _finite(lexeme: str) -> float:
    number = float(lexeme)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{lexeme} is too large.")
    return number


def _role(role: object, where: str) -> str:
    if not isinstance(role, str) or role not in _ROLES:
        raise ConfigError(f"{where}: unknown role {role!r}; use one of {', '.join(map(repr, _ROLES))}.")
    return _ROLES[role]


def _flag(value: object, where: str) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"{where} must be true or false, not {value!r:.80}.")
    return bool(value)


def _text(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigError(f"{where} must be a string, not {type(value).__name__}.")
    return value
