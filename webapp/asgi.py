"""The site as an ASGI application, served by uvicorn (deploy/up/web.py)."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from webapp.lib.deadline import Deadline, Handler  # noqa: E402  (Django must be set up first)

application = Deadline(Handler())
