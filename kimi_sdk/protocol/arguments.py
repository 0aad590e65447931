"""One tool's calls as grammar: its name, an index, and its arguments as typed elements in any order.

Every required argument comes exactly once, every other one at most once, and no key is invented unless
the schema declares none and describes the values of any key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol.lower import Lowering, unenforceable
from kimi_sdk.protocol.rules import Rules, attribute, literal
from kimi_sdk.protocol.values import Conjunction, expand, kinds, values
from kimi_sdk.schema import Schema, pointer

# The parser tracks used arguments as bits of a 64-bit number; above this they keep their declared order.
MOST_UNORDERED = 60
INDEX = "/[1-9][0-9]{0,8}/"


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a tool.

    Attributes:
        required: schemas of the arguments that must come.
        optional: schemas of those that may.
        anything: schema of the values under keys of the model's choice, ``None`` where it has none.
        least: fewest arguments.
        most: most arguments.
    """

    required: dict[str, Schema]
    optional: dict[str, Schema]
    anything: Schema | None
    least: int
    most: int | None


def call(rules: Rules, name: str, prefix: str, lowering: Lowering) -> str:
    """Adds the rules of one tool's call and gives their name; the marker's word ``call`` stands before it.

    Args:
        rules: of the whole turn.
        name: the tool's.
        prefix: begins the names of all rules that are added.
        lowering: of the tool's parameters.

    Raises:
        SchemaError: the parameters cannot be enforced.
    """
    found = forms(lowering)
    bodies = [_arguments(rules, f"{prefix}_{number}", form, lowering) for number, form in enumerate(found)]
    head = literal(attribute("tool", name) + ' index="')
    inside = " | ".join(dict.fromkeys(bodies))
    return rules.rule(prefix, f"{head} {rules.terminal(INDEX)} {literal(chr(34))} {rules.sep} ({inside})")


def forms(lowering: Lowering) -> list[Form]:
    """The ways to call a tool that its parameters describe.

    Raises:
        SchemaError: the parameters are no object, or no call satisfies them.
    """
    found = []
    for option in expand(lowering, lowering.schema, ""):
        if "object" not in kinds(option):
            continue
        for keyword in ("enum", "const", "oneOf"):
            if any(keyword in part for part in option):
                raise unenforceable(keyword, f"/{keyword}", "it stands at the top of a tool's parameters")
        form = _form(option)
        if form is not None:
            found.append(form)
    if not found:
        raise SchemaError("No call satisfies the parameters: they must describe an object.", keyword="type")
    return found


def _form(option: Conjunction) -> Form | None:
    needed = dict.fromkeys(name for part in option for name in part.get("required", ()))
    names = dict.fromkeys(name for part in option for name in part.get("properties", ()))
    schemas: dict[str, Schema] = {}
    for name in [*names, *(name for name in needed if name not in names)]:
        parts = [rule for part in option for rule in _rules_for(part, name)]
        if False in parts:
            if name in needed:
                return None
            continue
        parts = [part for part in parts if part is not True]
        schemas[name] = True if not parts else parts[0] if len(parts) == 1 else {"allOf": parts}
    least = max((part.get("minProperties", 0) for part in option), default=0)
    most = min((part["maxProperties"] for part in option if "maxProperties" in part), default=None)
    if most is not None and most < max(least, len(needed)):
        return None
    anything = None if schemas else _anything(option)
    if anything is None and least > len(schemas):
        return None
    return Form(
        required={name: schema for name, schema in schemas.items() if name in needed},
        optional={name: schema for name, schema in schemas.items() if name not in needed},
        anything=anything,
        least=least,
        most=most,
    )


def _rules_for(part: dict[str, Any], name: str) -> list[Schema]:
    """The schemas that one object schema holds for a key."""
    found = [part["properties"][name]] if name in part.get("properties", ()) else []
    found += [
        schema for wanted, schema in part.get("patternProperties", {}).items() if re.search(wanted, name)
    ]
    return found or [part.get("additionalProperties", True)]


def _anything(option: Conjunction) -> Schema | None:
    """The schema of values under any key, where the parameters say that there may be such."""
    given = [part["additionalProperties"] for part in option if "additionalProperties" in part]
    given = [schema for schema in given if schema is not True] or given
    if not given or False in given or any("patternProperties" in part for part in option):
        return None
    return given[0] if len(given) == 1 else {"allOf": given}


def _arguments(rules: Rules, prefix: str, form: Form, lowering: Lowering) -> str:
    if form.anything is not None:
        return _map(rules, prefix, form, lowering)
    schemas = {**form.required, **form.optional}
    elements = []
    for number, (key, schema) in enumerate(schemas.items()):
        elements.append(_argument(rules, f"{prefix}_{number}", key, schema, lowering))
    if not elements:
        return '""'
    if len(elements) > MOST_UNORDERED:
        if form.least > len(form.required) or form.most is not None:
            raise unenforceable(
                "minProperties", "/minProperties", f"there are more than {MOST_UNORDERED} properties"
            )
        needed = len(form.required)
        return " ".join([*elements[:needed], *(f"{element}?" for element in elements[needed:])])
    return _any_order(rules, prefix, elements, form)


def _any_order(rules: Rules, prefix: str, elements: list[str], form: Form) -> str:
    """A rule whose parameter has one bit for every argument that has been written."""
    needed = len(form.required)
    done = ["true"] if not needed else [f"is_ones([0:{needed}])"]
    if form.least > needed:
        done.append(f"bit_count_ge(_, {form.least})")
    body = [f'"" %if {_all(done)}']
    for number, element in enumerate(elements):
        free = [f"bit_clear({number})"]
        if form.most is not None and form.most < len(elements):
            free.append(f"bit_count_lt(_, {form.most})")
            if needed and number >= needed:
                free.append(_room(needed, form.most))
        body.append(f"{element} {prefix}::set_bit({number}) %if {_all(free)}")
    rules.rule(f"{prefix}::_", "\n  | ".join(body))
    return f"{prefix}::0x0"


def _room(needed: int, most: int) -> str:
    """Whether one more optional argument leaves room for the required ones that are missing."""
    cases = [
        f"and(bit_count_ge([0:{needed}], {have}), bit_count_lt(_, {most - needed + have}))"
        for have in range(needed + 1)
        if most - needed + have > 0
    ]
    result = cases[0]
    for case in cases[1:]:
        result = f"or({result}, {case})"
    return result


def _all(conditions: list[str]) -> str:
    result = conditions[0]
    for condition in conditions[1:]:
        result = f"and({result}, {condition})"
    return result


def _argument(rules: Rules, name: str, key: str, schema: Schema, lowering: Lowering) -> str:
    head = attribute("key", key)
    return rules.rule(
        name, _typed_element(rules, literal(f"argument{head}"), schema, pointer("properties", key), lowering)
    )


def _typed_element(rules: Rules, head: str, schema: Schema, at: str, lowering: Lowering) -> str:
    options = values(rules, lowering, schema, at)
    typed = " | ".join(
        f"{literal(attribute('type', kind))} {rules.sep} {body}" for kind, body in options.items()
    )
    return f"{rules.begin(head)} ({typed}) {rules.closing('argument')}"


def _map(rules: Rules, prefix: str, form: Form, lowering: Lowering) -> str:
    schema = form.anything if form.anything is not None else True
    key = rules.terminal(r"/(?:[^&\"]|&amp;|&quot;){1,200}/")
    element = rules.rule(
        f"{prefix}_any",
        _typed_element(rules, f'{literal("argument key=" + chr(34))} {key} {literal(chr(34))}', schema,
                       "/additionalProperties", lowering),
    )  # fmt: skip
    return f"{element}{{{form.least},{'' if form.most is None else form.most}}}"
