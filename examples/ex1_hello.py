"""One greeting, one answer. The model loads on first use and closes with the process."""

import anyio

from kimi_sdk import Agent


async def main() -> None:
    agent = Agent("k3-mini")
    result = await agent.run("Hello!")
    print(result.output)
    print(f"{result.usage.thinking_tokens} thinking, {result.usage.output_tokens} in all")


anyio.run(main)
