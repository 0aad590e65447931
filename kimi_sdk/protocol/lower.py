"""JSON Schema brought into the form that the matcher enforces exactly, or refused by keyword and pointer.

Every rewriting keeps the meaning or narrows it, so a text that was enforced also passes the original
schema. Knows keywords; leaves grammars to ``arguments`` and ``grammar``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Any
from urllib.parse import unquote

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol.disjoint import disjoint
from kimi_sdk.protocol.finite import ends
from kimi_sdk.protocol.magnitude import ANYTHING, DEFINITION, bounded, refers
from kimi_sdk.protocol.pattern import FORMATS, FREE_FORMATS, translate
from kimi_sdk.protocol.probe import error_of, is_empty
from kimi_sdk.schema import TYPES, Schema, pointer, subschemas

_KEPT = frozenset(
    (
        *(
            "type",
            "enum",
            "const",
            "required",
            "multipleOf",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
        ),
        *("minProperties", "maxProperties"),
    )
)
# Any other word says nothing about a value: annotations, and words that JSON Schema does not know.
_REFUSED = frozenset(
    (
        *(
            "not",
            "if",
            "contains",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedItems",
        ),
        *("unevaluatedProperties", "$dynamicRef", "$recursiveRef", "$id"),
    )
)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COMBINERS = ("allOf", "anyOf", "oneOf", "$ref")
# Words beside which an object's own properties are not all there is.
_OPENING = frozenset(
    ("additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties", *_COMBINERS)
)
# Words that speak about an object's keys: beside them, branches of a combiner must not be closed one by one.
_KEYED = frozenset(("properties", "required", "additionalProperties", "patternProperties", "propertyNames"))
# Words with which propertyNames may restrict a key.
_NAMING = frozenset(
    ("type", "enum", "const", "pattern", "format", "minLength", "maxLength", *_COMBINERS, *_REFUSED)
)
# The matcher compares bounds as doubles: beyond this they would no longer be exact.
_EXACT = 2**53 - 1
_MOST_BRANCHES = 256
# What the matcher's messages say about which keyword.
_SIGNS = (
    ("oneOf", "oneOf"),
    ("[Rr]egex|look-?around|attern", "pattern"),
    ("min/maxProperties", "minProperties"),
    ("min/maxProperties", "maxProperties"),
    ("attern", "patternProperties"),
    ("multipleOf", "multipleOf"),
    *(("range", key) for key in _BOUNDS),
    ("", "allOf"),
)
_STYLE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class Lowering:
    """A schema, lowered, with the definitions that it needs.

    Attributes:
        schema: the lowered schema; its references lead to ``defs``.
        defs: the lowered definitions by their new names.
        delicate: whether a number is bounded to multiples of a fraction (``Rules.delicate``).
    """

    def __init__(self, root: Schema, *, closed: bool) -> None:
        """Lowers ``root``.

        Args:
            root: a schema that ``kimi_sdk.schema.admit`` returned.
            closed: whether an object has only its declared properties, where it leaves that open.

        Raises:
            SchemaError: a keyword that cannot be enforced, or a reference that leads nowhere or in circles.
        """
        self._root = root
        self._closed = closed
        self._names: dict[tuple[str, bool], str] = {}
        self._waiting: list[tuple[str, str, Any, bool]] = []
        self.defs: dict[str, Schema] = {}
        self.delicate = False
        self.schema = self._lower(root, "", False)
        while self._waiting:
            name, at, target, opened = self._waiting.pop()
            self.defs[name] = self._lower(target, at, opened)
        self._refuse_endless()

    def text(self, schema: Schema) -> str:
        """The schema as the matcher's JSON text, with the definitions that it reaches.

        JSON is written as the renderer writes it: ``", "`` and ``": "`` between the parts.
        """
        found: dict[str, Schema] = {}
        queue = [schema]
        while queue:
            for part, _ in subschemas(queue.pop()):
                if isinstance(part, dict) and "$ref" in part and (name := part["$ref"][8:]) not in found:
                    found[name] = self.defs[name]
                    queue.append(self.defs[name])
        body: dict[str, Any] = {"x-guidance": _STYLE}
        whole = bounded(schema)
        body.update(whole if isinstance(whole, dict) else {"not": {}})
        definitions = {name: bounded(part) for name, part in found.items()}
        if refers(whole) or refers(definitions):
            definitions[ANYTHING] = DEFINITION
        if definitions:
            body["$defs"] = definitions
        return json.dumps(body, ensure_ascii=False)

    def culprit(self, failing: Callable[[Schema], str]) -> SchemaError | None:
        """The error for the innermost part that cannot be compiled, ``None`` if every part can.

        Args:
            failing: the matcher's message about a lowered schema, ``""`` where it has none.
        """
        places = [("", self.schema)]
        places += [(unquote(ref[1:]), self.defs[name]) for (ref, _), name in self._names.items()]
        for at, whole in places:
            for part, inner in subschemas(whole, at):
                if isinstance(part, dict) and (message := failing(part)):
                    if is_empty(message):
                        why = message.removeprefix("Unsatisfiable schema: ")
                        return SchemaError(
                            f"No value satisfies the schema at {inner or '/'!r}: {why}.", pointer=inner
                        )
                    signs = (key for sign, key in _SIGNS if key in part and re.search(sign, message))
                    keyword = next(signs, "")
                    return unenforceable(keyword, inner + pointer(keyword) if keyword else inner, message)
        return None

    def _lower(self, schema: Schema, at: str, opened: bool) -> Schema:
        if isinstance(schema, bool):
            return schema
        out: dict[str, Any] = {}
        within = opened or _shares_keys(schema)
        for key, value in schema.items():
            here = at + pointer(key)
            if key in _KEPT:
                out[key] = _whole(value)
            elif key in ("properties", "patternProperties"):
                out[key] = {
                    name: self._lower(part, here + pointer(name), False) for name, part in value.items()
                }
            elif key in ("items", "prefixItems", "additionalItems", "additionalProperties"):
                self._lower_part(out, schema, key, here)
            elif key in ("allOf", "anyOf", "oneOf"):
                parts = [self._lower(part, here + pointer(n), within) for n, part in enumerate(value)]
                if key == "oneOf" and self._exclusive(value, here):
                    key = "anyOf"
                if key == "allOf" or key not in out:
                    out.setdefault(key, []).extend(parts)
                else:
                    out.setdefault("allOf", []).append({key: parts})
            elif key == "$ref":
                out["$ref"] = f"#/$defs/{self._define(value, here, within)}"
            elif key in _BOUNDS:
                out[key] = _bound(key, value, here)
            elif key == "pattern":
                _add_pattern(out, translate(value))
            elif key == "format":
                _add_format(out, schema, value, here)
            elif key != "propertyNames":
                _refuse(out, schema, key, value, here)
        if "propertyNames" in schema:
            self._add_names(out, schema, schema["propertyNames"], at + pointer("propertyNames"))
        if "multipleOf" in out:
            self._add_multiple(out, at)
        if self._closed and not opened and "properties" in schema and not schema.keys() & _OPENING:
            out["additionalProperties"] = False
        return out

    def _lower_part(self, out: dict[str, Any], schema: Mapping[str, Any], key: str, here: str) -> None:
        value = schema[key]
        if isinstance(value, list):
            parts = [self._lower(part, here + pointer(n), False) for n, part in enumerate(value)]
            out["prefixItems"] = parts
            if key == "items" and "additionalItems" in schema:  # a tuple, before draft 2020-12
                out["items"] = self._lower(schema["additionalItems"], here, False)
        elif key != "additionalItems":
            out[key] = self._lower(value, here, False)

    def _exclusive(self, parts: list[Schema], here: str) -> bool:
        """Whether no value can satisfy two of ``parts``."""
        if len(parts) > _MOST_BRANCHES:
            return False
        follow = partial(resolve, self._root, here=here)
        return all(disjoint(a, b, follow) for a, b in combinations(parts, 2))

    def _add_multiple(self, out: dict[str, Any], at: str) -> None:
        """Makes multiples of an integer integers; multiples of a fraction must have one within the bounds."""
        if isinstance(out["multipleOf"], int):
            named = out.get("type", list(TYPES))
            kinds = [named] if isinstance(named, str) else named
            out["type"] = list(dict.fromkeys("integer" if kind == "number" else kind for kind in kinds))
            return
        self.delicate = True
        bounded = {key: out[key] for key in (*_BOUNDS, "multipleOf") if key in out}
        if error_of(f"start: value\nvalue: %json {self.text({'type': 'number', **bounded})}"):
            raise SchemaError(
                f"No number satisfies the schema at {at or '/'!r}.", pointer=at, keyword="multipleOf"
            )

    def _define(self, ref: str, here: str, opened: bool) -> str:
        """The new name of a reference's target, lowered later, so that it may lead back to itself."""
        if (ref, opened) not in self._names:
            target = resolve(self._root, ref, here=here)
            name = f"d{len(self._names)}"
            self._names[ref, opened] = name
            self._waiting.append((name, unquote(ref[1:]), target, opened))
        return self._names[ref, opened]

    def _add_names(self, out: dict[str, Any], schema: Mapping[str, Any], names: Schema, here: str) -> None:
        """``propertyNames`` as properties or as one pattern for all of them."""
        seen = 0
        while isinstance(names, dict) and "$ref" in names and seen < 64:
            names, seen = resolve(self._root, names["$ref"], here=here), seen + 1
        rest = self._lower(schema.get("additionalProperties", True), here, False)
        words = {} if names is True else names
        if not isinstance(words, dict) or schema.keys() & {"properties", "patternProperties"}:
            raise unenforceable("propertyNames", here)
        words = {
            key: value
            for key, value in words.items()
            if key in _NAMING and (key, value) != ("type", "string")
        }
        if words.keys() <= {"enum", "const"} and words:
            allowed = words.get("enum", [words.get("const")])
            out["properties"] = {name: rest for name in allowed if isinstance(name, str)}
            out["additionalProperties"] = False
        elif words.keys() == {"pattern"}:
            out["patternProperties"] = {translate(words["pattern"]): rest}
            out["additionalProperties"] = False
        elif words:
            raise unenforceable("propertyNames", here)

    def _refuse_endless(self) -> None:
        """Refuses a definition that no finite value satisfies, such as a node that must have a child."""
        ending: set[str] = set()
        grown = True
        while grown:
            new = {name for name, part in self.defs.items() if name not in ending and ends(part, ending)}
            ending |= new
            grown = bool(new)
        for (ref, _), name in self._names.items():
            if name not in ending:
                raise SchemaError(
                    f"The schema at {ref!r} refers to itself without an end: no finite value satisfies it.",
                    pointer=unquote(ref[1:]),
                    keyword="$ref",
                )


def unenforceable(keyword: str, at: str, why: str = "") -> SchemaError:
    """The error for a keyword that the grammar cannot keep."""
    what = f"The keyword {keyword!r}" if keyword else "The schema"
    reason = f": {why}" if why else ""
    return SchemaError(
        f"{what} at {at or '/'!r} cannot be enforced while tokens are written{reason}. "
        "Leave it out of the schema and check the value afterwards.",
        pointer=at,
        keyword=keyword,
    )


def resolve(root: Schema, ref: str, *, here: str) -> Any:
    """The schema that a local reference leads to.

    Raises:
        SchemaError: it leads out of the schema, or nowhere.
    """
    target: Any = root
    if ref != "#" and not ref.startswith("#/"):
        raise unenforceable("$ref", here, f"{ref!r} leads out of the schema")
    for step in unquote(ref[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdigit() and int(step) < len(target):
            target = target[int(step)]
        else:
            raise SchemaError(
                f"The reference {ref!r} at {here!r} leads nowhere.", pointer=here, keyword="$ref"
            )
    if not isinstance(target, dict | bool):
        raise SchemaError(
            f"The reference {ref!r} at {here!r} leads to no schema.", pointer=here, keyword="$ref"
        )
    return target


def _shares_keys(schema: Mapping[str, Any]) -> bool:
    """Whether several parts of ``schema`` speak about the keys of one object."""
    combiners = [key for key in _COMBINERS if key in schema]
    return (
        len(combiners) > 1 or len(schema.get("allOf", ())) > 1 or bool(combiners and schema.keys() & _KEYED)
    )


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bound(key: str, value: Any, here: str) -> Any:
    """A bound that a double holds exactly; a wider one is narrowed to the widest."""
    if isinstance(value, bool):
        raise unenforceable(key, here, "it must be a number")
    if abs(value) <= _EXACT:
        return _whole(value)
    if key.endswith("aximum") == (value > 0):
        return _EXACT if value > 0 else -_EXACT
    raise unenforceable(key, here, "it lies beyond 2^53")


def _add_pattern(out: dict[str, Any], pattern: str) -> None:
    if "pattern" in out:
        out.setdefault("allOf", []).append({"pattern": pattern})
    else:
        out["pattern"] = pattern


def _add_format(out: dict[str, Any], schema: Mapping[str, Any], name: str, here: str) -> None:
    kinds = schema.get("type", ["string"])
    if "string" not in ([kinds] if isinstance(kinds, str) else kinds) or name in FREE_FORMATS:
        return
    if name not in FORMATS:
        raise unenforceable("format", here, f"{name!r} is unknown")
    _add_pattern(out, f"^(?:{FORMATS[name]})$")


def _refuse(out: dict[str, Any], schema: Mapping[str, Any], key: str, value: Any, here: str) -> None:
    """Refuses a keyword unless it asks for nothing here."""
    if key == "uniqueItems":
        needless = not value or schema.get("maxItems", 2) < 2
    elif key == "unevaluatedProperties" and value is False and not schema.keys() & (_OPENING - {key}):
        out["additionalProperties"] = False
        return
    elif key.startswith("unevaluated"):
        needless = value is True
    elif key == "if":
        needless = not schema.keys() & {"then", "else"}
    else:
        needless = key not in _REFUSED or (value == {} and key.startswith("dep")) or here == "/$id"
    if not needless:
        raise unenforceable(key, here)
