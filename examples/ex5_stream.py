"""Thoughts dimly, the answer plainly, each call as it starts. Leaving the block stops model and tools."""

import anyio

from kimi_sdk import Agent, CallFinished, CallStarted, ReasoningDelta, TextDelta, builtin_tools


async def show(agent: Agent[None, str], task: str) -> str:
    async with agent.stream(task) as run:
        async for event in run:
            match event:
                case ReasoningDelta(text=text):
                    print(f"\x1b[2m{text}\x1b[0m", end="", flush=True)
                case TextDelta(text=text):
                    print(text, end="", flush=True)
                case CallStarted(name=name):
                    print(f"\n[{name} ...]")
                case CallFinished(result=done, seconds=seconds):
                    print(f"[{done.name}: {done.text} after {seconds:.1f} s]")
                case _:
                    pass
        print()
        return (await run.result()).output


anyio.run(show, Agent("k3-mini", tools=builtin_tools()), "How many kilometers are 12 miles?")
