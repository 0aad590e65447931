"""JSON schemas as the product renders them for an output type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The ``response_format`` of a schema."""
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": schema}}
