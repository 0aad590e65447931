"""Two tools: one that comes with the package, one of our own. Every call is valid by construction."""

import anyio

from kimi_sdk import Agent, Limits, Model, builtin_tools, tool

STOCK = {"K-104": 3, "K-200": 41}


@tool
def stock(sku: str) -> int:
    """Count the units of one article on the shelf.

    Args:
        sku: Article number.
    """
    return STOCK.get(sku, 0)


async def main() -> None:
    async with Model.from_pretrained("k3-mini") as model:
        clerk = Agent(model, tools=[stock, *builtin_tools()], limits=Limits(steps=6))
        result = await clerk.run("What is 17 times 24?")
        for message in result.new_messages:
            for call in message.calls:
                print(f"{call.name} {dict(call.args)}")
            for given in message.results:
                print(f"  = {given.text}")
        print(result.output)


anyio.run(main)
