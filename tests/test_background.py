"""Python waits at its end for native work in threads of an event loop, and lets no more begin."""

from __future__ import annotations

import subprocess
import sys


def test_python_waits_for_held_work() -> None:
    program = (
        "import threading, time\n"
        "from kimi_sdk import background\n"
        "def work():\n"
        "    with background.held():\n"
        "        begun.set()\n"
        "        try:\n"
        "            while True:\n"
        "                background.check()\n"
        "                time.sleep(0.01)\n"
        "        except Exception as error:\n"
        "            print(type(error).__name__, flush=True)\n"
        "begun = threading.Event()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "begun.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "EngineClosed\n", "")
