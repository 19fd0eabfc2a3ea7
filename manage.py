#!/usr/bin/env python
"""Run a management command of the site; `manage.py up` starts it."""

import os
import sys


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentsite.settings")
    try:
        from django.core.management import execute_from_command_line

        from agentsite import loop
    except ModuleNotFoundError as error:
        sys.exit(f"{error}. Start with `uv run manage.py …`, which installs what is missing.")
    loop.install()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
