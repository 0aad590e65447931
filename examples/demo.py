"""The main job on the bundled model: two tools in a row, a question about a picture, a typed value.

Prints thoughts dimly, every call with its result, the answers, and what it cost. Ends with 1 if an answer is
not what it must be. Another model's folder may be given as an argument.
"""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel

from kimi_sdk import Agent, Image, Limits, Model, RunResult, Usage, builtin_tools
from kimi_sdk.errors import KimiError, RunError
from kimi_sdk.terminal import Printer, spell_output, spell_usage

HERE = Path(__file__).parent

START, SHIFT = datetime.date(2027, 2, 10), 45
WEEKDAY = (START + datetime.timedelta(days=SHIFT)).strftime("%A")


class Person(BaseModel):
    """What the third task must find in its sentence."""

    name: str
    age: int
    city: str


class Demo:
    """Three tasks on one model, and what they cost together."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.printer = Printer()
        self.usage = Usage()
        self.seconds = 0.0
        self.wrong: list[str] = []

    async def tools(self) -> None:
        """The weekday of a date that has to be computed first."""
        agent = Agent(self.model, tools=builtin_tools(HERE), limits=Limits(steps=6))
        result = await self.run("Two tools", agent, f"What day of the week is {SHIFT} days after {START}?")
        used = [call.name for message in result.new_messages for call in message.calls]
        self.check("it used two different tools", len(set(used)) >= 2)
        self.check(f"the answer names {WEEKDAY}", WEEKDAY in result.output)

    async def image(self) -> None:
        """The colour of a shape in a picture."""
        picture = Image.from_path(HERE / "shapes.png")
        result = await self.run("An image", Agent(self.model), [picture, "What color is the circle?"])
        self.check("the circle is red", "red" in result.output.lower())

    async def typed(self) -> None:
        """A sentence as an object."""
        agent = Agent(self.model, output_type=Person)
        result = await self.run("A typed value", agent, "Maria Lopez is 34 years old and lives in Lisbon.")
        self.check("all fields are right", result.output == Person(name="Maria Lopez", age=34, city="Lisbon"))

    async def run(
        self, title: str, agent: Agent[None, Any], task: str | Sequence[str | Image]
    ) -> RunResult[Any]:
        """Runs one task and prints it while it goes on."""
        printer = self.printer
        printer.line(printer.styled(f"── {title}", "bold"))
        parts = [task] if isinstance(task, str) else task
        printer.line("? " + " ".join(part if isinstance(part, str) else f"[{part!r}]" for part in parts))
        began = time.perf_counter()
        try:
            async with agent.stream(task) as stream:
                async for event in stream:
                    printer.event(event)
                result = await stream.result()
            self.usage += result.usage
        except RunError as error:
            self.usage += error.usage
            raise
        finally:
            self.seconds += time.perf_counter() - began
            printer.finish()
        if agent.constraint is not None:
            printer.line(spell_output(result.output))
        return result

    def check(self, what: str, is_so: bool) -> None:
        """Notes whether an answer is what it must be."""
        if not is_so:
            self.wrong.append(what)
            self.printer.line(self.printer.styled(f"Wrong: it should be so that {what}.", "error"))


async def main(source: str) -> int:
    async with Model.from_pretrained(source) as model:
        demo = Demo(model)
        for task in (demo.tools, demo.image, demo.typed):
            try:
                await task()
            except KimiError as error:
                demo.check(f"{task.__name__} ends without {type(error).__name__} ({error})", False)
            demo.printer.line()
        demo.printer.line(demo.printer.styled(spell_usage(demo.usage, demo.seconds), "dim"))
    return 1 if demo.wrong else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else "k3-mini"))
