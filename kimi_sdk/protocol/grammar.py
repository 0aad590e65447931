"""The language of one turn, from its first thought to ``<|end_of_msg|>``, as a single grammar.

Knows channels, tool choice and output constraints; schemas are lowered by ``lower``, calls written by
``arguments``, and the mask of a request is ``matcher``'s.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from kimi_sdk.errors import ConfigError, SchemaError, ToolDefinitionError
from kimi_sdk.output import Choice, Constraint, Grammar, Regex
from kimi_sdk.protocol.arguments import call
from kimi_sdk.protocol.lower import Lowering
from kimi_sdk.protocol.matcher import Compiled, TurnMatcher, Vocabulary
from kimi_sdk.protocol.pattern import translate
from kimi_sdk.protocol.probe import NO_TEXT, error_of, sentence
from kimi_sdk.protocol.rules import INTEGER, NUMBER, TEXT, Rules, literal, regex
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.schema import Schema, admit

GrammarStart: TypeAlias = Literal["think", "response", "text"]

_CACHED = 64
_CACHED_BYTES = 16 << 20


@dataclass(frozen=True)
class TurnGrammar:
    """What one turn may be. Cheap to keep; ``matcher`` gives one mask per request.

    Attributes:
        start: the channel that the prompt left open; ``"text"`` is a bare text without channels.
        thinking_tokens: tokens of thought after which the think channel is closed.
    """

    start: GrammarStart
    thinking_tokens: int | None
    _vocabulary: Vocabulary
    _compiled: Compiled

    @property
    def text(self) -> str:
        """The grammar in llguidance's own form."""
        return self._compiled.text

    @classmethod
    def build(
        cls,
        tokenizer: Tokenizer,
        *,
        start: GrammarStart,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: str = "auto",
        parallel: bool = True,
        output: Constraint[Any] | None = None,
        thinking_tokens: int | None = None,
    ) -> TurnGrammar:
        """Builds the grammar of a turn, or takes it from the cache. May be called from any thread.

        Args:
            tokenizer: of the model.
            start: the channel that the prompt left open, ``"think"`` or ``"response"``; ``"text"`` for a bare
                text that ends with ``<|end_of_msg|>``.
            tools: declarations, ``{"type": "function", "function": {"name", "parameters", ...}}``.
            tool_choice: ``"auto"``, ``"none"``, ``"required"``, or the name of the one tool to call.
            parallel: whether there may be more than one call.
            output: what the response must be. Beside tools, the turn has either such a response and no
                calls, or an empty response and calls.
            thinking_tokens: the think channel is closed after exactly this many tokens, if it still is open.

        Raises:
            ToolDefinitionError: a declaration without a name, or a name twice.
            SchemaError: a schema that cannot be enforced; says where and why.
            ConfigError: a tool choice that the tools do not allow.
        """
        if thinking_tokens is not None and thinking_tokens < 0:
            raise ConfigError(f"thinking_tokens must not be negative: {thinking_tokens!r}.")
        offered = _offered(tools, tool_choice, start)
        vocabulary = Vocabulary.of(tokenizer)
        must_call = bool(offered) and tool_choice != "auto"
        empty = output is not None or tool_choice not in ("auto", "none", "required")
        key = _key(vocabulary, (start, must_call, empty, parallel), offered, output)
        compiled = _cache.get(key)
        if compiled is None:
            lowered = {name: _lower(name, parameters) for name, parameters in offered.items()}
            text = _turn(
                tokenizer, start, lowered, output, must_call=must_call, empty=empty, parallel=parallel
            )
            compiled = Compiled(text, _compile(vocabulary, text, lowered, output))
            _cache.put(key, compiled)
        return cls(start, thinking_tokens, vocabulary, compiled)

    def matcher(self) -> TurnMatcher:
        """A mask at the turn's first token."""
        return TurnMatcher(
            self._vocabulary,
            self._compiled,
            thinking=self.start == "think",
            bound=self.thinking_tokens,
        )


def _offered(tools: Sequence[Mapping[str, Any]], choice: str, start: str) -> dict[str, Any]:
    """The parameters of the tools that this turn may call, by name."""
    declared: dict[str, Any] = {}
    for tool in tools:
        function = tool.get("function", tool)
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ToolDefinitionError(
                f"A tool declaration needs a name: {json.dumps(tool, default=repr)[:200]}."
            )
        if name in declared:
            raise ToolDefinitionError(f"The tool name {name!r} is declared twice.")
        parameters = function.get("parameters")
        declared[name] = {} if parameters is None else parameters
    if choice in ("auto", "none"):
        return declared if choice == "auto" and start != "text" else {}
    if not declared:
        raise ConfigError(f"tool_choice {choice!r} needs tools, and there are none.")
    if start == "text":
        raise ConfigError(f"tool_choice {choice!r} needs a turn with channels, not a bare text.")
    if choice == "required":
        return declared
    if choice not in declared:
        raise ConfigError(f"tool_choice {choice!r} names no declared tool; there are {sorted(declared)}.")
    return {choice: declared[choice]}


def _turn(
    tokenizer: Tokenizer,
    start: GrammarStart,
    offered: Mapping[str, Lowering],
    output: Constraint[Any] | None,
    *,
    must_call: bool,
    empty: bool,
    parallel: bool,
) -> str:
    """The turn as llguidance's grammar list."""
    rules = Rules(tokenizer)
    grammars: list[dict[str, str]] = []
    text = rules.terminal(TEXT)
    rules.rule("start", "")  # the first rule; its body is known at the end
    body = text if output is None else _output(rules, output, grammars)
    if start == "text":
        rules.rule("start", f"{body} {rules.end}")
    else:
        before = f"{text} {rules.closing('think')} {rules.opening('response')} " if start == "think" else ""
        after = f"{rules.closing('message')} {rules.end}"
        answered = rules.closing("response")
        ways = [] if must_call else [f"{body} {answered} {after}"]
        if offered:
            calls = _calls(rules, offered, parallel=parallel)
            ways.append(f"{'' if empty else text} {answered} {calls} {after}")
        rules.rule("start", f"{before}({' | '.join(ways)})")
    return json.dumps({"grammars": [{"lark_grammar": rules.lark()}, *grammars]}, ensure_ascii=False)


def _output(rules: Rules, output: Constraint[Any], grammars: list[dict[str, str]]) -> str:
    """The response's body."""
    if isinstance(output, Regex):
        return rules.terminal(regex(translate(output.pattern), "", search=False))
    if isinstance(output, Choice):
        return rules.terminal(" | ".join(literal(text) for text in output.options))
    if isinstance(output, Grammar):
        rules.delicate |= "&" in output.lark or "~" in output.lark
        grammars.append({"name": "output", "lark_grammar": output.lark})
        return "@output"
    if output.schema is None:
        raise SchemaError(f"{output!r} says nothing that a grammar could enforce.")
    lowering = Lowering(output.schema, closed=output.closed)
    if lowering.schema is False or error_of(_lark(lowering, lowering.schema)) == NO_TEXT:
        raise SchemaError("No value satisfies the output's schema.")
    rules.delicate |= lowering.delicate
    if lowering.schema in ({"type": "number"}, {"type": "integer"}):
        return rules.terminal(NUMBER if lowering.schema == {"type": "number"} else INTEGER)
    return f"%json {lowering.text(lowering.schema)}"


def _calls(rules: Rules, offered: Mapping[str, Lowering], *, parallel: bool) -> str:
    """The tools channel with at least one call."""
    names = []
    for number, (name, lowering) in enumerate(offered.items()):
        rules.delicate |= lowering.delicate
        try:
            names.append(call(rules, name, f"c{number}", lowering))
        except SchemaError as error:
            raise _of_tool(name, error) from error
    inside = f"{rules.begin(literal('call'))} ({' | '.join(names)}) {rules.closing('call')}"
    one = rules.rule("call", inside)
    return rules.element("tools", f"{one}+" if parallel else one)


def _lower(name: str, parameters: Any) -> Lowering:
    try:
        return Lowering(admit(parameters, what="The parameters' schema"), closed=True)
    except SchemaError as error:
        raise _of_tool(name, error) from error


def _of_tool(name: str, error: SchemaError) -> SchemaError:
    return SchemaError(f"Tool {name!r}: {error}", pointer=error.pointer, keyword=error.keyword)


def _lark(lowering: Lowering, schema: Schema) -> str:
    return f"start: value\nvalue: %json {lowering.text(schema)}"


def _compile(
    vocabulary: Vocabulary, grammar: str, offered: Mapping[str, Lowering], output: Constraint[Any] | None
) -> Any:
    """A matcher at the grammar's beginning."""
    from llguidance import LLMatcher

    first = LLMatcher(vocabulary.matching, grammar, log_level=0)
    if first.is_error():
        raise _explained(str(first.get_error()), offered, output)
    if not any(first.compute_bitmask()) or first.is_stopped():
        raise SchemaError("The grammar of the turn allows no text at all.")
    return first


def _explained(message: str, offered: Mapping[str, Lowering], output: Constraint[Any] | None) -> SchemaError:
    """The error for a grammar that cannot be compiled: the schema's part that is to blame, if one is."""
    for name, lowering in offered.items():
        if culprit := lowering.culprit(partial(_failing, lowering)):
            return _of_tool(name, culprit)
    if output is not None and output.schema is not None:
        lowering = Lowering(output.schema, closed=output.closed)
        if culprit := lowering.culprit(partial(_failing, lowering)):
            return culprit
    reason = sentence(message)
    reason = reason.partition("JSON schema: ")[2] or reason
    return SchemaError(f"A schema of this turn cannot be enforced while tokens are written: {reason}.")


def _failing(lowering: Lowering, schema: Schema) -> str:
    return sentence(error_of(_lark(lowering, schema)))


def _key(
    vocabulary: Vocabulary, shape: tuple[Any, ...], offered: Mapping[str, Any], output: Constraint[Any] | None
) -> tuple[Any, ...]:
    """The grammar's content: what would compile to the same grammar has the same key."""
    wanted: Any = None
    if isinstance(output, Regex):
        wanted = output.pattern
    elif isinstance(output, Choice):
        wanted = tuple(output.options)
    elif isinstance(output, Grammar):
        wanted = output.lark
    elif output is not None:
        wanted = (json.dumps(output.schema), output.closed)
    try:
        tools = json.dumps(offered, ensure_ascii=False, default=dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"The tools' parameters are not JSON: {error}.") from None
    return (vocabulary, *shape, tools, None if output is None else output.kind, wanted)


class _Cache:
    """Compiled grammars, the least recently used ones dropped first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Any, ...], Compiled] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[Any, ...]) -> Compiled | None:
        with self._lock:
            found = self._held.get(key)
            if found is None or found.broken:
                return None
            self._held.move_to_end(key)
            return found

    def put(self, key: tuple[Any, ...], value: Compiled) -> None:
        with self._lock:
            replaced = self._held.pop(key, None)
            self._bytes += len(value.text) - (len(replaced.text) if replaced else 0)
            self._held[key] = value
            while len(self._held) > _CACHED or (self._bytes > _CACHED_BYTES and len(self._held) > 1):
                _, dropped = self._held.popitem(last=False)
                self._bytes -= len(dropped.text)


_cache = _Cache()
