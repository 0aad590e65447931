"""What a tool returned, as text and images that a model can read, and no longer than allowed.

The same value always gives the same text: prefixes are cached and runs are replayed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kimi_sdk.messages import Text

if TYPE_CHECKING:
    from kimi_sdk.vision.image import Image

    Content = tuple[Text | Image, ...]

BYTES_PER_TOKEN = 4


def content_of(value: Any, tool: str) -> Content:
    """Make a value readable.

    Text stays as it is, images stay images (also among other things in a list or tuple), bytes are text or an
    image, and everything else is JSON by pydantic's rules.

    Args:
        value: what the tool returned.
        tool: its name, for messages.

    Raises:
        TypeError: no rule fits; the message never shows a memory address.
    """
    if isinstance(value, (list, tuple)) and any(_is_image(item) for item in value):
        return tuple(part for item in value for part in content_of(item, tool))
    if isinstance(value, Text):
        return (value,)
    if isinstance(value, str):
        return (Text(_clean(value)),)
    if _is_image(value):
        return (_image(value),)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return (_from_bytes(bytes(value), tool),)
    return (Text(_json(value, tool)),)


def _is_image(value: Any) -> bool:
    """Told by the class's name first, so that a run without images imports no image library."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(value).__mro__}
    return bool(names & {"kimi_sdk.vision.image.Image", "PIL.Image.Image"})


def _image(value: Any) -> Image:
    from kimi_sdk.vision.image import Image

    return value if isinstance(value, Image) else Image.from_pil(value)


def _from_bytes(data: bytes, tool: str) -> Text | Image:
    from kimi_sdk.errors import ImageError
    from kimi_sdk.vision.image import Image

    try:
        return Text(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    try:
        return Image.from_bytes(data)
    except ImageError:
        raise TypeError(
            f"{tool} returned {len(data):,} bytes that are neither UTF-8 text nor an image."
        ) from None


def _json(value: Any, tool: str) -> str:
    from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

    if isinstance(value, Iterator):
        raise TypeError(f"{tool} returned a {type(value).__name__}; a tool returns a list instead.")
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        pass
    # Lone surrogates are no UTF-8, which the fast way cannot write.
    try:
        plain = to_jsonable_python(value, inf_nan_mode="constants")
        return _clean(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        reason = "it holds itself" if "ircular" in str(error) else "it has no form as text or JSON"
        raise TypeError(f"{tool} returned a {type(value).__name__} that cannot be shown: {reason}.") from None


def readable(text: str) -> str:
    """An exception's text without memory addresses, which differ from run to run, and lone surrogates."""
    return re.sub(r" at 0x[0-9A-Fa-f]{4,}", "", _clean(text))


def _clean(text: str) -> str:
    """Text without lone surrogates, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, where no tokenizer is at hand."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def cut(content: Content, limit: int | None, count: Callable[[str], int]) -> tuple[Content, int | None]:
    """Shorten the texts to ``limit`` tokens in all; images are never cut.

    Returns:
        The content, and how many tokens its texts had if they were cut.
    """
    if limit is None:
        return content, None
    sizes = [count(part.text) if isinstance(part, Text) else 0 for part in content]
    total = sum(sizes)
    if total <= limit:
        return content, None
    parts: list[Text | Image] = []
    left = limit
    for part, size in zip(content, sizes, strict=True):
        if not isinstance(part, Text) or size <= left:
            parts.append(part)
        elif left > 0:
            parts.append(Text(_head(part.text, left, size, count)))
        left = max(0, left - size)
    parts.append(Text(f"\n[cut: about {limit:,} of {total:,} tokens are shown]"))
    return tuple(parts), total


def _head(text: str, limit: int, size: int, count: Callable[[str], int]) -> str:
    """The longest beginning found that has at most ``limit`` tokens."""
    keep = len(text) * limit // size
    while keep > 0 and count(text[:keep]) > limit:
        keep = keep * 9 // 10
    return text[:keep]
