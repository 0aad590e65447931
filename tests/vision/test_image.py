"""One decoder for every way in; whatever is wrong becomes one ImageError that says what."""

from __future__ import annotations

import base64
import concurrent.futures
import http.server
import io
import os
import pickle
import struct
import threading
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import PIL.Image
import pytest

from kimi_sdk.errors import ImageError
from kimi_sdk.vision.image import Image


def photo(width: int = 12, height: int = 8) -> PIL.Image.Image:
    y, x = np.mgrid[0:height, 0:width]
    return PIL.Image.fromarray(np.stack((x * 20, y * 30, (x + y) * 10), -1).astype(np.uint8))


def encoded(picture: PIL.Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def test_the_same_picture_by_every_way(tmp_path: Path) -> None:
    data = encoded(photo())
    path = tmp_path / "a.png"
    path.write_bytes(data)
    text = base64.b64encode(data).decode()
    images = [
        Image.from_path(path),
        Image.from_path(str(path)),
        Image.from_bytes(data),
        Image.from_bytes(bytearray(data)),
        Image.from_bytes(memoryview(data)),
        Image.from_pil(photo()),
        Image.from_pil(PIL.Image.open(path)),
        Image.from_data_url("data:image/png;base64," + text),
        Image.from_data_url("DATA:image/png;BASE64," + text.rstrip("=")),
        Image.from_data_url("data:;base64," + text[:20] + "\n" + text[20:]),
        Image.from_data_url("data:image/png," + "".join(f"%{byte:02x}" for byte in data)),
        Image.from_bytes(encoded(photo(), "BMP")),
        Image.from_bytes(encoded(photo(), "TIFF")),
        Image.from_bytes(encoded(photo(), "WEBP", lossless=True)),
        Image.from_bytes(encoded(photo(), "PPM")),
    ]
    assert len({image.digest for image in images}) == 1
    assert len(set(images)) == 1
    assert images[0] == images[-1]
    assert images[0].size == (12, 8)
    assert images[0] != Image.from_pil(photo(8, 12))
    assert images[0] != "image"


def test_value_and_looks() -> None:
    image = Image.from_pil(photo())
    assert repr(image) == f"<Image 12x8 RGB {image.digest[:8]}>"
    assert image._repr_png_().startswith(b"\x89PNG")
    assert Image.from_bytes(image.png()) == image
    assert pickle.loads(pickle.dumps(image)) == image  # noqa: S301
    image.to_pil().putpixel((0, 0), (1, 2, 3))
    assert image == Image.from_pil(photo())
    source = photo()
    kept = Image.from_pil(source)
    source.putpixel((0, 0), (1, 2, 3))
    assert kept == image
    with pytest.raises(ImageError, match=r"from_pil"):
        Image(PIL.Image.new("L", (1, 1)))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_pictures_stand_upright(orientation: int, kind: str) -> None:
    turns = PIL.Image.Transpose
    undo = {
        1: None, 2: turns.FLIP_LEFT_RIGHT, 3: turns.ROTATE_180, 4: turns.FLIP_TOP_BOTTOM, 5: turns.TRANSPOSE,
        6: turns.ROTATE_90, 7: turns.TRANSVERSE, 8: turns.ROTATE_270,
    }[orientation]  # fmt: skip
    upright = photo(16, 8)
    stored = upright if undo is None else upright.transpose(undo)
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    options = (
        {"lossless": True} if kind == "WEBP" else {"quality": 100, "subsampling": 0} if kind == "JPEG" else {}
    )
    data = encoded(stored, kind, exif=exif.tobytes(), **options)
    image = Image.from_bytes(data)
    assert image.size == (16, 8)
    difference = np.asarray(image.to_pil()).astype(int) - np.asarray(upright).astype(int)
    assert np.abs(difference).max() <= (6 if kind == "JPEG" else 0)
    assert Image.from_pil(PIL.Image.open(io.BytesIO(data))) == image


def test_alpha_is_kept_in_every_mode() -> None:
    colour = PIL.Image.new("RGBA", (2, 1), (10, 20, 30, 255))
    colour.putpixel((1, 0), (10, 20, 30, 77))
    assert Image.from_bytes(encoded(colour)).to_pil().getpixel((1, 0)) == (10, 20, 30, 77)

    gray = PIL.Image.new("LA", (1, 1), (50, 100))
    assert Image.from_bytes(encoded(gray)).to_pil().getpixel((0, 0)) == (50, 50, 50, 100)
    assert Image.from_pil(gray.convert("La")).to_pil().mode == "RGBA"
    assert Image.from_pil(colour.convert("RGBa")).to_pil().getpixel((0, 0)) == (10, 20, 30, 255)

    palette = PIL.Image.new("P", (2, 1))
    palette.putpalette([1, 2, 3, 4, 5, 6])
    palette.putpixel((1, 0), 1)
    assert Image.from_bytes(encoded(palette)).to_pil().mode == "RGB"
    clear = Image.from_bytes(encoded(palette, transparency=1)).to_pil()
    assert [clear.getpixel((x, 0)) for x in (0, 1)] == [(1, 2, 3, 255), (4, 5, 6, 0)]
    partly = Image.from_bytes(encoded(palette, transparency=bytes([255, 60]))).to_pil()
    assert partly.getpixel((1, 0)) == (4, 5, 6, 60)

    keyed = Image.from_bytes(encoded(photo(), transparency=(20, 30, 20))).to_pil()
    assert keyed.getpixel((1, 1)) == (20, 30, 20, 0)
    assert keyed.getpixel((2, 1)) == (40, 30, 30, 255)
    plain = Image.from_bytes(encoded(PIL.Image.new("L", (1, 1), 7), transparency=7)).to_pil()
    assert plain.getpixel((0, 0)) == (7, 7, 7, 0)


def test_deep_and_unusual_modes() -> None:
    deep = PIL.Image.fromarray(np.array([[0, 32768, 65535]], np.uint16))
    for kind in ("PNG", "TIFF"):
        found = Image.from_bytes(encoded(deep, kind)).to_pil()
        assert [found.getpixel((x, 0)) for x in range(3)] == [(0,) * 3, (128,) * 3, (255,) * 3]
    ints = PIL.Image.fromarray(np.array([[-5, 32768, 65535]], np.int32))
    assert [Image.from_pil(ints).to_pil().getpixel((x, 0)) for x in range(3)] == [
        (0,) * 3,
        (128,) * 3,
        (255,) * 3,
    ]
    floats = PIL.Image.fromarray(np.array([[0.0, 0.5, 1.0]], np.float32))
    assert [Image.from_pil(floats).to_pil().getpixel((x, 0)) for x in (0, 2)] == [(0,) * 3, (255,) * 3]
    wide = PIL.Image.fromarray(np.array([[-10.0, 10.0, np.nan]], np.float32))
    assert [Image.from_pil(wide).to_pil().getpixel((x, 0)) for x in (0, 1, 2)] == [
        (0,) * 3,
        (255,) * 3,
        (128,) * 3,
    ]
    flat = PIL.Image.fromarray(np.full((1, 1), 5.0, np.float32))
    assert Image.from_pil(flat).size == (1, 1)

    bilevel = PIL.Image.new("1", (2, 1))
    bilevel.putpixel((1, 0), 1)
    assert [Image.from_pil(bilevel).to_pil().getpixel((x, 0)) for x in (0, 1)] == [(0,) * 3, (255,) * 3]
    ink = PIL.Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    assert Image.from_bytes(encoded(ink, "TIFF")).to_pil().getpixel((3, 3)) == (0, 255, 255)
    red, green, blue = Image.from_bytes(encoded(ink, "JPEG", quality=100)).to_pil().getpixel((3, 3))  # type: ignore[misc]
    assert red < 10 < 245 < min(green, blue)
    assert Image.from_pil(photo().convert("YCbCr")).to_pil().mode == "RGB"


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, raw: bytes, *, depth: int = 8, colour: int = 0) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    )


def test_16_bit_colour() -> None:
    raw = b"\0" + struct.pack(">6H", 0, 32768, 65535, 65535, 0, 32768)
    found = Image.from_bytes(png(2, 1, raw, depth=16, colour=2)).to_pil()
    assert [found.getpixel((x, 0)) for x in (0, 1)] == [(0, 128, 255), (255, 0, 128)]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF"])
def test_frames(kind: str) -> None:
    frames = [PIL.Image.new("RGB", (4, 4), colour) for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255))]
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    colours = [Image.from_bytes(data, frame=n).to_pil().convert("RGB").getpixel((1, 1)) for n in range(3)]
    assert colours == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    assert Image.from_bytes(data) == Image.from_bytes(data, frame=0)
    for wrong in (3, -1):
        with pytest.raises(ImageError, match=rf"The data has no frame {wrong}; it has 3"):
            Image.from_bytes(data, frame=wrong)
    opened = PIL.Image.open(io.BytesIO(data))
    opened.seek(2)
    assert Image.from_pil(opened, frame=1) == Image.from_bytes(data, frame=1)
    assert opened.tell() == 2
    with pytest.raises(ImageError, match="no frame 1; it has 1"):
        Image.from_bytes(encoded(photo()), frame=1)


def test_bombs_are_refused_before_they_are_opened() -> None:
    for side in (10_000, 30_000, 65_000):
        data = png(side, side, b"")
        tracemalloc.start()
        started = time.perf_counter()
        with pytest.raises(ImageError, match="pixels"):
            Image.from_bytes(data)
        assert time.perf_counter() - started < 0.2
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()


def broken() -> dict[str, bytes]:
    good_png, good_jpeg = encoded(photo(64, 64)), encoded(photo(64, 64), "JPEG")
    cases = {
        "empty": b"",
        "text": b"hello, this is no image",
        "html": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n",
        "half jpeg": good_jpeg[: len(good_jpeg) // 2],
        "jpeg head": good_jpeg[:20],
        "bad crc": good_png[:20] + bytes([good_png[20] ^ 1]) + good_png[21:],
        "no pixels": png(5, 5, b""),
    }
    for kind in ("GIF", "BMP", "TIFF", "WEBP", "PPM"):
        data = encoded(photo(64, 64), kind)
        cases[f"half {kind}"] = data[: len(data) // 2]
    at = 8
    while at < len(good_png):
        (length,) = struct.unpack(">I", good_png[at : at + 4])
        cases[f"png cut in {good_png[at + 4 : at + 8].decode()} at {at}"] = good_png[: at + 8 + length // 2]
        at += 12 + length
    # Without its last chunk a PNG has all of its pixels, and is read.
    return {name: data for name, data in cases.items() if "IEND" not in name}


@pytest.mark.parametrize("name", broken())
def test_broken_files_are_one_error(name: str, tmp_path: Path) -> None:
    data = broken()[name]
    with pytest.raises(ImageError, match=r"^The data "):
        Image.from_bytes(data)
    path = tmp_path / "broken.img"
    path.write_bytes(data)
    with pytest.raises(ImageError, match=r"broken\.img"):
        Image.from_path(path)


def test_random_damage_never_raises_anything_else() -> None:
    rng = np.random.default_rng(0)
    sources = [encoded(photo(32, 32), kind) for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP")]
    for data in sources:
        for _ in range(60):
            damaged = bytearray(data)
            for at in rng.integers(0, len(data), 3):
                damaged[at] = rng.integers(0, 256)
            try:
                size = Image.from_bytes(damaged[: rng.integers(1, len(data) + 1)]).size
            except ImageError:
                continue
            assert min(size) > 0


def test_missing_and_foreign_inputs(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"nope\.png cannot be read: No such file"):
        Image.from_path(tmp_path / "nope.png")
    with pytest.raises(ImageError, match="cannot be read: Is a directory"):
        Image.from_path(tmp_path)
    with pytest.raises(ImageError, match="takes a PIL image, not str"):
        Image.from_pil("a.png")  # type: ignore[arg-type]
    with pytest.raises(ImageError, match="is not a data URL"):
        Image.from_data_url("https://example.org/a.png")
    with pytest.raises(ImageError, match="not valid base64"):
        Image.from_data_url("data:image/png;base64,!!!!")
    with pytest.raises(ImageError, match="empty"):
        Image.from_data_url("data:,")
    with pytest.raises(ImageError, match="base64"):
        Image.from_data_url("data:image/png;base64,\ud800")
    with pytest.raises(ImageError, match="cannot be read: embedded null"):
        Image.from_path("a\0b.png")
    with pytest.raises(ImageError, match="nothing to see"):
        Image.from_pil(PIL.Image.new("RGB", (0, 5)))
    truncated = PIL.Image.open(io.BytesIO(broken()["half jpeg"]))
    with pytest.raises(ImageError, match="The PIL image is damaged"):
        Image.from_pil(truncated)


def test_threads_leave_no_trace_in_the_warnings() -> None:
    before = list(warnings.filters)
    data = [encoded(photo()), png(10_000, 10_000, b""), b"x"] * 20

    def one(item: bytes) -> str:
        try:
            return Image.from_bytes(item).digest
        except ImageError as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(one, data))) == 3
    assert list(warnings.filters) == before


PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/a.png": (200, {"Content-Type": "image/png"}, encoded(photo())),
    "/page": (200, {"Content-Type": "text/html"}, b"<html></html>"),
    "/gone": (404, {}, b"no"),
    "/moved": (302, {"Location": "/a.png"}, b""),
    "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/long": (200, {}, b"x" * 200_000),
    "/short": (200, {"Content-Length": "5000"}, b"x" * 10),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(1.0)
            return
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.mark.anyio
@pytest.mark.usefixtures("_direct")
async def test_fetching(site: str) -> None:
    expected = Image.from_pil(photo())
    assert await Image.fetch(site + "/a.png") == expected
    assert await Image.fetch(site + "/moved") == expected
    assert await Image.fetch("data:image/png;base64," + base64.b64encode(expected.png()).decode()) == expected


@pytest.mark.anyio
@pytest.mark.usefixtures("_direct")
@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("/page", "is not an image"),
        ("/gone", "answered 404 Not Found"),
        ("/file", "not allowed"),
        ("/loop", "answered 302"),
        ("/long", "longer than 100,000 bytes"),
        ("/short", "cannot be fetched|too early"),
        ("/slow", "did not answer within 0.2 s"),
    ],
)
async def test_what_cannot_be_fetched(site: str, page: str, text: str) -> None:
    with pytest.raises(ImageError, match=text):
        await Image.fetch(site + page, timeout=0.2 if page == "/slow" else 10.0, max_bytes=100_000)


@pytest.mark.anyio
@pytest.mark.usefixtures("_direct")
async def test_schemes_hosts_and_cancellation(site: str) -> None:
    for url in ("file:///etc/passwd", "ftp://127.0.0.1/a", "a.png", "", "http://", "http://[::1"):
        with pytest.raises(ImageError):
            await Image.fetch(url)
    with pytest.raises(ImageError, match="cannot be fetched"):
        await Image.fetch("http://127.0.0.1:1/a.png")
    started = time.monotonic()
    with anyio.move_on_after(0.05) as scope:
        await Image.fetch(site + "/slow")
    assert scope.cancelled_caught
    assert time.monotonic() - started < 0.9
