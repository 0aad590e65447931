"""A question about a picture: images and text stand side by side in a task."""

from pathlib import Path

import anyio

from kimi_sdk import Image, Model


async def main() -> None:
    picture = Image.from_path(Path(__file__).with_name("shapes.png"))
    async with Model.from_pretrained("k3-mini") as model:
        reply = await model.chat([picture, "What color is the circle?"])
        print(reply.output)


anyio.run(main)
