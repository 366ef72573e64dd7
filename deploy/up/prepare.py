"""What must be done before the site can serve: checks, migrations and the demo project. The demo's first search is
played while the rest of the site starts: a part of its own.

``python -m deploy.up.prepare SIGN_INS`` leaves in the file what ``manage.py demo`` printed: the demo sign-ins.
``EQUIPOISE_DEMO=0`` goes without a demo project; one of an earlier start then loses its known passwords where other
machines reach the site.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError
from django.db import OperationalError

from engine.errors import StoreError
from webapp.lib.storage import store


def main(sign_ins: Path) -> int:
    """Prepare the database; 1 when the settings or the database cannot be used."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    try:
        call_command("check", databases=["default"])
        list(store().leases())  # it answers
        call_command("migrate", interactive=False, verbosity=1)
        if os.environ.get("EQUIPOISE_DEMO", "1") != "0":
            printed = io.StringIO()
            call_command("demo", "--without-search", stdout=printed)
            sign_ins.write_text(printed.getvalue())
        elif not settings.DEMO_PASSWORDS:
            call_command("demo", "--close")
    except (CommandError, SystemCheckError) as error:
        print(error, file=sys.stderr)
        return 1
    except StoreError as error:
        print(f"{error} (EQUIPOISE_STORE is {settings.STORE})", file=sys.stderr)
        return 1
    except OperationalError as error:
        print(f"The database cannot be used: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
