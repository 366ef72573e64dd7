#!/usr/bin/env python
"""Django's command line: ``python manage.py help`` lists what there is."""

import os
import sys

from engine.piping import until_nobody_reads


def main() -> int:
    """Run one management command; it raises SystemExit when it fails."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(until_nobody_reads(main))
