"""How a user tests an agent: no weights, both event loops, a cancelled tool. Run it with pytest."""

import anyio
import pytest

from kimi_sdk import Agent, tool
from kimi_sdk.testing import ScriptedModel, assert_idle


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@tool
async def slow(seconds: float) -> str:
    """Wait."""
    await anyio.sleep(seconds)
    return "done"


@pytest.mark.anyio
async def test_uses_the_tool() -> None:
    model = ScriptedModel([[("slow", {"seconds": 0.0})], "All done."])
    result = await Agent(model, tools=[slow]).run("go")
    assert result.output == "All done."
    assert result.usage.tool_calls == 1


@pytest.mark.anyio
async def test_cancel_leaves_nothing_running() -> None:
    model = ScriptedModel([[("slow", {"seconds": 60.0})], "never"])
    with anyio.move_on_after(0.05) as scope:
        await Agent(model, tools=[slow]).run("go")
    assert scope.cancelled_caught
    assert_idle(model)
