"""K3's wire format: messages to ids, and the turn that comes back to its parts; K2's format beside it."""

from kimi_sdk.protocol.render import render
from kimi_sdk.protocol.segments import EncodedPrompt, Prompt
from kimi_sdk.protocol.tokenizer import Tokenizer

__all__ = ["EncodedPrompt", "Prompt", "Tokenizer", "render"]
