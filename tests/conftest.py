"""Every async test runs on asyncio and on trio; one CPU thread, so that results repeat."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

# Machines are shared: a slow example is no failure, and CI draws the same examples every time.
settings.register_profile(
    "kimi_sdk", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kimi_sdk")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)
