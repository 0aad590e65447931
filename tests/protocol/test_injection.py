from __future__ import annotations

import injection


def test_text_never_becomes_a_control_token() -> None:
    k3, k2 = injection.bundled()
    injected = sum(injection.check(seed, k3, k2) for seed in range(250))
    assert injected > 10_000
