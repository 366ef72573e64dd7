"""The site as an ASGI application, served by uvicorn (deploy/up/web.py)."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from webapp.api import body  # noqa: E402  (Django must be set up first)
from webapp.api.auth import is_known  # noqa: E402
from webapp.lib.bodies import Bodies  # noqa: E402
from webapp.lib.deadline import Deadline, Handler  # noqa: E402
from webapp.lib.trouble import API  # noqa: E402

application = Deadline(Bodies(Handler(), is_known, {body.WITH_DATA: body.MOST_WITH_DATA, API: body.MOST_BYTES}))
