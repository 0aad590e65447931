"""Bytes from the web, bounded in size and time. Blocking: call it in a worker thread."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request

from kimi_sdk.errors import ImageError

CHUNK = 65536
AGENT = "kimi-k3-sdk"


class _SameSchemes(urllib.request.HTTPRedirectHandler):
    """Follows redirects as long as they stay on http and https."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        _check(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(url: str, timeout: float, max_bytes: int) -> bytes:
    """Get ``url``.

    Raises:
        ImageError: not http or https, no answer, an error status, or more than ``max_bytes``.
    """
    _check(url)
    deadline = time.monotonic() + timeout
    opener = urllib.request.build_opener(_SameSchemes)
    try:
        request = urllib.request.Request(url, headers={"User-Agent": AGENT, "Accept": "image/*"})
        with opener.open(request, timeout=timeout) as answer:
            return _read(answer, url, deadline, timeout, max_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        raise ImageError(f"{url} answered {error.code} {error.reason}.") from None
    except (urllib.error.URLError, OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, ImageError):
            raise
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise ImageError(f"{url} did not answer within {timeout:g} s.") from None
        raise ImageError(f"{url} cannot be fetched: {reason}.") from None


def _check(url: str) -> None:
    if url.partition(":")[0].lower() not in ("http", "https"):
        raise ImageError(f"{url[:80]!r} cannot be fetched: only http, https and data URLs can.")


def _read(
    answer: http.client.HTTPResponse, url: str, deadline: float, timeout: float, max_bytes: int
) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := answer.read1(CHUNK):
        size += len(chunk)
        if size > max_bytes:
            raise ImageError(f"{url} is longer than {max_bytes:,} bytes.")
        if time.monotonic() > deadline:
            raise ImageError(f"{url} was not complete within {timeout:g} s.")
        chunks.append(chunk)
    announced = answer.length
    if announced:
        raise ImageError(f"{url} ended {announced:,} bytes too early.")
    return b"".join(chunks)
