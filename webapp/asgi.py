"""The site as an ASGI application, served by uvicorn (deploy/up/web.py)."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from webapp.api import body  # noqa: E402  (Django must be set up first)
from webapp.api.auth import sender  # noqa: E402
from webapp.lib.bodies import Bodies  # noqa: E402
from webapp.lib.deadline import Deadline, Handler  # noqa: E402
from webapp.lib.senders import Senders  # noqa: E402
from webapp.lib.trouble import API  # noqa: E402
from webapp.lib.turns import Turns  # noqa: E402
from webapp.lib.visits import Counted  # noqa: E402

senders = Senders(sender)
sizes = {body.WITH_DATA: body.MOST_WITH_DATA, API: body.MOST_BYTES}
application = Counted(Deadline(Bodies(Turns(Handler(), senders), senders, sizes)))
