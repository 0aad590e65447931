"""``python -m kimi_sdk`` is the command ``kimi-sdk``."""

import sys

from kimi_sdk.cli import main

sys.exit(main())
