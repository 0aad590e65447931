"""Typed values from a sentence. The schema is enforced while the tokens are written."""

import anyio
from pydantic import BaseModel

from kimi_sdk import Model


class Person(BaseModel):
    name: str
    age: int
    city: str


async def main() -> None:
    async with Model.from_pretrained("k3-mini") as model:
        reply = await model.chat("Maria Lopez is 34 years old and lives in Lisbon.", output_type=Person)
        print(repr(reply.output))


anyio.run(main)
