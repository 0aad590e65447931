"""A prompt as segments: control pieces, where special tokens count, and text pieces, where they never do.

Every segment is encoded on its own, so no text can turn into a control token and no merge crosses an edge.
Knows nothing of messages or tags; ``render`` decides what the segments say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from kimi_sdk.errors import ConfigError
from kimi_sdk.protocol.tokenizer import Tokenizer

Start: TypeAlias = Literal["think", "response", "idle"]
Kind: TypeAlias = Literal["control", "text"]
Size: TypeAlias = tuple[int, int]


class Sized(Protocol):
    """Anything with a size in pixels, such as an ``Image``."""

    @property
    def size(self) -> Size:
        """Width and height."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a prompt.

    Attributes:
        kind: ``"control"`` where spellings of special tokens stand for them, else ``"text"``.
        text: what the piece says.
        image: the picture whose features go here, or its size when no more is known.
    """

    kind: Kind
    text: str
    image: Sized | Size | None = None

    @property
    def control(self) -> bool:
        return self.kind == "control"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where the head or one message ends; ``position`` counts segments, or tokens once encoded."""

    kind: Literal["head", "message"]
    position: int


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """Where the features of one image go: ``count`` media pads from token ``start`` on."""

    start: int
    count: int
    image: Sized | Size


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """A prompt as token ids.

    Attributes:
        ids: the tokens.
        boundaries: ends of the head and of the messages, as token positions.
        images: places of the image features, in order.
        start: the channel that the prompt leaves open.
        opener: how many of the tokens are the header of that channel; 0 where the format has none.
    """

    ids: list[int]
    boundaries: tuple[Boundary, ...]
    images: tuple[ImagePlace, ...]
    start: Start
    opener: int = 0

    @property
    def billed_tokens(self) -> int:
        """What the hosted K3 reports as ``usage.prompt_tokens``: all ids but the open channel's header.

        That header is three tokens (``<|open|>``, its tag, ``<|sep|>``). A local engine reads and counts
        them too: its ``Usage.prompt_tokens`` is ``len(ids)``.
        """
        return len(self.ids) - self.opener


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered conversation.

    Attributes:
        segments: the pieces in order, none of them empty.
        boundaries: ends of the head (none if it is empty) and of each conversation message, as segment
            positions. Messages that only this turn sees (tool choice, response format) have none.
        start: the channel that the prompt leaves open, ``"idle"`` for none.
        opener: where the header of that channel begins and ends, as segment positions.
    """

    segments: tuple[Segment, ...]
    boundaries: tuple[Boundary, ...]
    start: Start
    opener: tuple[int, int] = (0, 0)

    @property
    def text(self) -> str:
        """All pieces in one string, to look at. Encoding it would lose what is control and what is text."""
        return "".join(segment.text for segment in self.segments)

    def encode(
        self, tokenizer: Tokenizer, *, image_tokens: Callable[[Size], int] | None = None
    ) -> EncodedPrompt:
        """Encodes every segment by its kind.

        Args:
            tokenizer: of the model that reads the prompt.
            image_tokens: how many media pads an image of a given size takes; without it every image keeps
                one pad.

        Raises:
            ConfigError: ``image_tokens`` gives less than one.
        """
        ids: list[int] = []
        starts: list[int] = []
        images: list[ImagePlace] = []
        for segment in self.segments:
            starts.append(len(ids))
            piece = tokenizer.encode(segment.text, special=segment.control)
            if segment.image is not None:
                pad = tokenizer.media_pad_id
                at = piece.index(pad)
                count = 1 if image_tokens is None else image_tokens(size_of(segment.image))
                if count < 1:
                    raise ConfigError(f"An image must take at least one token, not {count}.")
                images.append(ImagePlace(len(ids) + at, count, segment.image))
                piece[at : at + 1] = [pad] * count
            ids += piece
        starts.append(len(ids))
        boundaries = tuple(Boundary(mark.kind, starts[mark.position]) for mark in self.boundaries)
        begin, end = self.opener
        return EncodedPrompt(ids, boundaries, tuple(images), self.start, starts[end] - starts[begin])


class SegmentWriter:
    """Collects segments and boundaries; empty text vanishes."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._boundaries: list[Boundary] = []
        self._opener = (0, 0)

    @property
    def position(self) -> int:
        return len(self._segments)

    def opened_from(self, position: int) -> None:
        """Says that the header of the channel that stays open began there and ends here."""
        self._opener = (position, self.position)

    def control(self, text: str, image: Sized | Size | None = None) -> None:
        self._segments.append(Segment("control", text, image))

    def text(self, text: str) -> None:
        if text:
            self._segments.append(Segment("text", text))

    def boundary(self, kind: Literal["head", "message"]) -> None:
        if self._segments:
            self._boundaries.append(Boundary(kind, len(self._segments)))

    def prompt(self, start: Start) -> Prompt:
        return Prompt(tuple(self._segments), tuple(self._boundaries), start, self._opener)


def size_of(image: Sized | Size) -> Size:
    """Width and height in pixels."""
    return image if isinstance(image, tuple) else image.size
