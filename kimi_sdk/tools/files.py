"""The tools ``read_file``, ``list_files`` and ``search_files``: text files under one folder only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kimi_sdk.errors import ConfigError, Retry

LONGEST = 200_000  # bytes read of one file
MOST_NAMES = 500
MOST_LINES = 50
MOST_VISITED = 20_000  # files a search opens
LONGEST_LINE = 200
SNIFFED = 8192  # bytes looked at to tell text from binary

FolderPath = Annotated[str, Field(description="Folder")]


class Folder:
    """A folder that tools may look into. Links are followed only as far as they stay inside."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).expanduser().resolve()
        if not self.root.is_dir():
            raise ConfigError(f"The tools' folder {str(root)!r} does not exist or is not a folder.")

    def read_file(self, path: Annotated[str, Field(description="File")]) -> str:
        """Read a text file."""
        file = self._inside(path)
        if file.is_dir():
            raise Retry(f"{path!r} is a folder; list_files shows what is in it.")
        if not file.is_file():
            raise Retry(f"There is no file {path!r}.")
        try:
            size = file.stat().st_size
            with file.open("rb") as stream:
                data = stream.read(LONGEST)
        except OSError as error:
            raise Retry(f"{path!r} cannot be read: {error.strerror}.") from None
        if _is_binary(data):
            raise Retry(f"{path!r} is not a text file.")
        text = data.decode("utf-8", errors="replace")
        if size > len(data):
            text = f"{text.rstrip(chr(0xFFFD))}\n[cut: the first {len(data):,} of {size:,} bytes]"
        return text

    def list_files(self, path: FolderPath = ".") -> str:
        """List a folder."""
        folder = self._folder(path)
        names = []
        try:
            for entry in folder.iterdir():
                if self._is_inside(entry):
                    names.append(entry.name + ("/" if entry.is_dir() else ""))
        except OSError as error:
            raise Retry(f"{path!r} cannot be read: {error.strerror}.") from None
        if not names:
            return "The folder is empty."
        shown = sorted(names)[:MOST_NAMES]
        if len(names) > MOST_NAMES:
            shown.append(f"[cut: {MOST_NAMES} of {len(names)} names]")
        return "\n".join(shown)

    def search_files(
        self, query: Annotated[str, Field(description="Text to find")], path: FolderPath = "."
    ) -> str:
        """Find lines that contain a text, in any case."""
        wanted = query.casefold()
        if not wanted.strip():
            raise Retry("The text to find is empty.")
        start = self._inside(path)
        if not start.exists():
            raise Retry(f"There is no file or folder {path!r}.")
        lines: list[str] = []
        for file in self._texts(start):
            for number, line in enumerate(_lines(file), 1):
                if wanted not in line.casefold():
                    continue
                if len(lines) == MOST_LINES:
                    return "\n".join([*lines, f"[cut: the first {MOST_LINES} lines found]"])
                name = file.relative_to(self.root).as_posix()
                lines.append(f"{name}:{number}: {line.strip()[:LONGEST_LINE]}")
        return "\n".join(lines) if lines else f"No line contains {query!r}."

    def _inside(self, path: str) -> Path:
        """The real place of a path.

        Raises:
            Retry: it lies outside of the root, or no such path can exist.
        """
        try:
            place = (self.root / path).resolve()
            place.exists()  # raises where the system cannot even look, as for a name that is too long
        except (OSError, ValueError, RuntimeError):
            raise Retry(f"{path!r} is not a usable path.") from None
        if place != self.root and self.root not in place.parents:
            raise Retry(f"{path!r} lies outside of the folder that may be read.")
        return place

    def _is_inside(self, place: Path) -> bool:
        try:
            real = place.resolve()
        except (OSError, RuntimeError):
            return False
        return real == self.root or self.root in real.parents

    def _folder(self, path: str) -> Path:
        folder = self._inside(path)
        if not folder.exists():
            raise Retry(f"There is no folder {path!r}.")
        if not folder.is_dir():
            raise Retry(f"{path!r} is a file; read_file reads it.")
        return folder

    def _texts(self, start: Path) -> Iterator[Path]:
        """Files to search, in order of their names; without hidden folders and links out of the root."""
        if start.is_file():
            yield start
            return
        visited = 0
        for folder, folders, names in os.walk(start):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                visited += 1
                if visited > MOST_VISITED:
                    return
                if self._is_inside(file) and file.is_file():
                    yield file


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:SNIFFED]


def _lines(file: Path) -> list[str]:
    """A file's lines; none if it cannot be read or is not text."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LONGEST)
    except OSError:
        return []
    return [] if _is_binary(data) else data.decode("utf-8", errors="replace").splitlines()
