"""K2's older wire format, for K2, K2-Thinking, K2.5, K2.6 and Kimi-Linear checkpoints."""

from kimi_sdk.protocol.k2_parse import K2Start, K2TurnParser, parse_k2, start_of_k2
from kimi_sdk.protocol.k2_render import Variant, render_k2

__all__ = ["K2Start", "K2TurnParser", "Variant", "parse_k2", "render_k2", "start_of_k2"]
