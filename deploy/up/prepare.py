"""What must be done before the site can serve: checks, migrations and the demo project.

``python -m deploy.up.prepare SIGN_INS`` leaves in the file what ``manage.py demo`` printed: the demo sign-ins.
``EQUIPOISE_DEMO=0`` goes without a demo project.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import django
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError


def main(sign_ins: Path) -> int:
    """Prepare the database; 1 when the settings or the database cannot be used."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    try:
        call_command("check", databases=["default"])
        call_command("migrate", interactive=False, verbosity=1)
        if os.environ.get("EQUIPOISE_DEMO", "1") != "0":
            printed = io.StringIO()
            call_command("demo", stdout=printed)
            sign_ins.write_text(printed.getvalue())
    except (CommandError, SystemCheckError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
