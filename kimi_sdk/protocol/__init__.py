"""K3's wire format: messages to ids, and the turn that comes back to its parts; K2's format beside it."""

from kimi_sdk.protocol import k2
from kimi_sdk.protocol.parse import TurnParser, parse, start_of
from kimi_sdk.protocol.render import render
from kimi_sdk.protocol.segments import Boundary, EncodedPrompt, ImagePlace, Prompt, Segment
from kimi_sdk.protocol.tokenizer import IncrementalDecoder, Tokenizer
from kimi_sdk.protocol.turn import ParsedCall, ParsedTurn, TurnEvent

__all__ = [
    "Boundary",
    "EncodedPrompt",
    "ImagePlace",
    "IncrementalDecoder",
    "ParsedCall",
    "ParsedTurn",
    "Prompt",
    "Segment",
    "Tokenizer",
    "TurnEvent",
    "TurnParser",
    "k2",
    "parse",
    "render",
    "start_of",
]
