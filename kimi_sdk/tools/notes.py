"""The tools ``save_note``, ``read_note`` and ``list_notes`` on one store in memory."""

from __future__ import annotations

import difflib
import threading
from typing import Annotated

from pydantic import Field

from kimi_sdk.errors import Retry

MOST = 1000  # notes
LONGEST = 100_000  # characters of a note
LONGEST_TITLE = 200

Title = Annotated[str, Field(description="The note's title")]


class Notes:
    """Notes by title. Titles are found whatever their case; tools may run in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: dict[str, tuple[str, str]] = {}

    def __getstate__(self) -> dict[str, tuple[str, str]]:
        with self._lock:
            return dict(self._notes)

    def __setstate__(self, notes: dict[str, tuple[str, str]]) -> None:
        self._lock = threading.Lock()
        self._notes = notes

    def save_note(self, title: Title, text: Annotated[str, Field(description="What to remember")]) -> str:
        """Save a note, replacing one of the same title."""
        title = title.strip()
        if not title:
            raise Retry("A note needs a title.")
        if len(title) > LONGEST_TITLE or len(text) > LONGEST:
            raise Retry(f"A note has at most {LONGEST_TITLE} characters of title and {LONGEST} of text.")
        with self._lock:
            if title.casefold() not in self._notes and len(self._notes) >= MOST:
                raise Retry(f"There are {MOST} notes already; no more can be saved.")
            self._notes[title.casefold()] = (title, text)
        return "Saved."

    def read_note(self, title: Title) -> str:
        """Read a saved note."""
        with self._lock:
            found = self._notes.get(title.strip().casefold())
            titles = [name for name, _ in self._notes.values()]
        if found is not None:
            return found[1]
        if not titles:
            raise Retry("There are no notes yet.")
        near = difflib.get_close_matches(title, titles, n=1)
        raise Retry(
            f"There is no note {title.strip()[:60]!r}.{f' Did you mean {near[0]!r}?' if near else ''}"
        )

    def list_notes(self) -> str:
        """List the titles of all notes."""
        with self._lock:
            titles = [name for name, _ in self._notes.values()]
        return "\n".join(titles) if titles else "There are no notes yet."
