"""One decoder for every way an image comes in: path, bytes, PIL, data URL, web.

What comes out is upright, 8 bits a channel, RGB or RGBA, bounded in size and whole. Knows nothing of models.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import io
import os
import threading
import urllib.parse
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np
import PIL.Image
import PIL.ImageOps

from kimi_sdk.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

# Formats that decode in bounded time and memory and start no other program.
FORMATS = ("PNG", "JPEG", "MPO", "GIF", "WEBP", "BMP", "TIFF", "PPM", "ICO", "AVIF", "TGA", "JPEG2000", "QOI")
MOST_PIXELS = 64_000_000
MOST_BYTES = 100_000_000
WIDE = ("I", "I;16", "I;16L", "I;16B", "I;16N", "F")  # one channel of more than 8 bits


class Image:
    """Decoded, upright, 8-bit RGB or RGBA pixels; equal images compare and hash equal."""

    __slots__ = ("_digest", "_picture")

    def __init__(self, picture: Picture) -> None:
        """Take a picture that is RGB or RGBA already; ``from_pil`` takes any other."""
        if picture.mode not in ("RGB", "RGBA"):
            raise ImageError(f"Image() takes RGB or RGBA pixels, not {picture.mode}; use Image.from_pil().")
        self._picture = picture
        self._digest: str | None = None

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], *, frame: int = 0) -> Self:
        """Read an image file.

        Args:
            path: PNG, JPEG, GIF, WebP, BMP, TIFF and a few more.
            frame: which picture of an animation or of several pages.

        Raises:
            ImageError: missing, unreadable, cut short, too large, not an image, or no such frame.
        """
        name = os.fspath(path)
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > MOST_BYTES:
                    raise ImageError(f"{name} has {size:,} bytes; an image may have {MOST_BYTES:,}.")
                data = file.read(MOST_BYTES)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            if isinstance(error, ImageError):
                raise
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise ImageError(f"{name} cannot be read: {reason}.") from None
        return cls(_decode(data, frame, name))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, frame: int = 0) -> Self:
        """Read the bytes of an image file.

        Raises:
            ImageError: see ``from_path``.
        """
        if len(data) > MOST_BYTES:
            raise ImageError(f"The data has {len(data):,} bytes; an image may have {MOST_BYTES:,}.")
        return cls(_decode(bytes(data), frame, "The data"))

    @classmethod
    def from_pil(cls, image: Picture, *, frame: int = 0) -> Self:
        """Copy a PIL image, of any mode; its EXIF orientation counts.

        Raises:
            ImageError: see ``from_path``.
        """
        if not isinstance(image, PIL.Image.Image):
            raise ImageError(f"Image.from_pil() takes a PIL image, not {type(image).__name__}.")
        with _guarded("The PIL image"):
            before = image.tell()
            try:
                return cls(_normal(image, frame, "The PIL image"))
            finally:
                if image.tell() != before:
                    image.seek(before)

    @classmethod
    def from_data_url(cls, url: str) -> Self:
        """Read a ``data:image/...`` URL, base64 or percent-encoded.

        Raises:
            ImageError: not such a URL, or see ``from_path``.
        """
        head, comma, body = url.partition(",")
        if not comma or not head[:5].lower() == "data:":
            raise ImageError(f"{_short(url)!r} is not a data URL, which reads data:image/png;base64,...")
        raw = urllib.parse.unquote_to_bytes(body.encode("utf-8", "replace"))
        if head.lower().endswith(";base64"):
            compact = b"".join(raw.split())
            try:
                raw = base64.b64decode(compact + b"=" * (-len(compact) % 4), validate=True)
            except binascii.Error as error:
                raise ImageError(f"The data URL {_short(url)!r} is not valid base64: {error}.") from None
        if len(raw) > MOST_BYTES:
            raise ImageError(f"The data URL has {len(raw):,} bytes; an image may have {MOST_BYTES:,}.")
        return cls(_decode(raw, 0, "The data URL"))

    @classmethod
    async def fetch(cls, url: str, *, timeout: float = 10.0, max_bytes: int = 20_000_000) -> Self:
        """Get an image from the web; a data URL works too.

        Args:
            url: http or https.
            timeout: seconds for the whole download.
            max_bytes: a longer answer is refused.

        Raises:
            ImageError: another scheme, no answer in time, an error status, too long, or see ``from_path``.
        """
        if url[:5].lower() == "data:":
            return cls.from_data_url(url)
        import anyio.to_thread

        from kimi_sdk.vision.download import download

        data: bytes | None = None
        with anyio.move_on_after(timeout):
            data = await anyio.to_thread.run_sync(download, url, timeout, max_bytes, abandon_on_cancel=True)
        if data is None:
            raise ImageError(f"{_short(url)} did not answer within {timeout:g} s.")
        return cls(await anyio.to_thread.run_sync(_decode, data, 0, _short(url)))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, upright."""
        return self._picture.size

    @property
    def digest(self) -> str:
        """SHA-256 of mode, size and pixels, in hexadecimal: the same for the same pixels from any source."""
        if self._digest is None:
            head = f"{self._picture.mode} {self.size[0]}x{self.size[1]}\n".encode()
            self._digest = hashlib.sha256(head + self._picture.tobytes()).hexdigest()
        return self._digest

    def to_pil(self) -> Picture:
        """A copy as a PIL image, RGB or RGBA."""
        return self._picture.copy()

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Image) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Image {self.size[0]}x{self.size[1]} {self._picture.mode} {self.digest[:8]}>"

    def __reduce__(self) -> tuple[type[Self], tuple[Picture]]:
        return type(self), (self._picture,)

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        return self.png()

    def png(self) -> bytes:
        """The image as the bytes of a PNG file, without loss."""
        out = io.BytesIO()
        self._picture.save(out, "PNG")
        return out.getvalue()


def _decode(data: bytes, frame: int, source: str) -> Picture:
    """Open, check and decode a file's bytes."""
    if not data:
        raise ImageError(f"{source} is empty.")
    with _guarded(source), PIL.Image.open(io.BytesIO(data), formats=_formats()) as picture:
        return _normal(picture, frame, source)


# Filters of warnings belong to the whole process, so two threads must not change them at once.
_quiet = threading.Lock()


@contextlib.contextmanager
def _guarded(source: str) -> Iterator[None]:
    """Whatever Pillow warns of or raises becomes one ``ImageError``, or nothing."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except ImageError:
            raise
        except PIL.UnidentifiedImageError:
            raise ImageError(f"{source} is not an image, or of a format that is not supported.") from None
        except PIL.Image.DecompressionBombError:
            raise ImageError(f"{source} has too many pixels; at most {MOST_PIXELS:,} are allowed.") from None
        except MemoryError:
            raise ImageError(f"{source} needs more memory than there is.") from None
        except (
            Exception
        ) as error:  # Pillow's decoders raise OSError, SyntaxError, ValueError, struct.error, ...
            raise ImageError(f"{source} is damaged or cut short: {str(error).rstrip('.')}.") from None


def _formats() -> list[str]:
    PIL.Image.preinit()
    PIL.Image.init()
    return [name for name in FORMATS if name in PIL.Image.OPEN]


def _normal(picture: Picture, frame: int, source: str) -> Picture:
    """The chosen frame, upright, as a fresh RGB or RGBA picture."""
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise ImageError(f"{source} has {width}x{height} pixels; at most {MOST_PIXELS:,} in all are allowed.")
    if width < 1 or height < 1:
        raise ImageError(f"{source} has {width}x{height} pixels: there is nothing to see.")
    _seek(picture, frame, source)
    picture.load()
    upright = PIL.ImageOps.exif_transpose(picture)
    done = _eight_bit(upright if upright is not None else picture)
    fresh = PIL.Image.new(done.mode, done.size)
    fresh.paste(done)
    return fresh


def _seek(picture: Picture, frame: int, source: str) -> None:
    if picture.tell() == frame:  # not n_frames: it would read a whole animation
        return
    frames = getattr(picture, "n_frames", 1)
    if not 0 <= frame < frames:
        raise ImageError(f"{source} has no frame {frame}; it has {frames}, counted from 0.")
    picture.seek(frame)


def _eight_bit(picture: Picture) -> Picture:
    """RGB or RGBA of any mode: transparency is kept, deep channels are scaled, CMYK is converted."""
    if picture.mode in ("RGB", "RGBA") and "transparency" not in picture.info:
        return picture
    if picture.mode in WIDE:
        return _from_wide(picture)
    if picture.mode in ("1", "L", "RGB", "P", "LA", "PA", "RGBA", "RGBa", "La"):
        if picture.mode in ("La", "RGBa"):
            picture = picture.convert({"La": "LA", "RGBa": "RGBA"}[picture.mode])
        return picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    return picture.convert("RGB")  # CMYK, YCbCr, LAB, HSV


def _from_wide(picture: Picture) -> Picture:
    """One channel of 16 or 32 bits or floats to 8 bits: the whole range of 16 bits, or of the values."""
    values = np.asarray(picture).astype(np.float64)
    clear = picture.info.get("transparency")
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    if picture.mode == "F":
        low, high = float(values.min()), float(values.max())
        # Floats carry no range of their own; 0..1 is usual, and anything else is stretched.
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
    else:
        low, high = 0.0, max(65535.0, float(values.max()))
    scaled = (values - low) * (255.0 / (high - low if high > low else 1.0))
    gray = PIL.Image.fromarray(np.clip(np.rint(scaled), 0, 255).astype(np.uint8))
    if not isinstance(clear, int):
        return gray.convert("RGB")
    alpha = PIL.Image.fromarray(np.where(np.asarray(picture) == clear, 0, 255).astype(np.uint8))
    return PIL.Image.merge("RGBA", (gray, gray, gray, alpha))


def _short(url: str) -> str:
    return url if len(url) <= 80 else url[:77] + "..."
