"""The site's settings for tests: runtime data in a folder of this process, removed at its end."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="eqp-test-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["EQUIPOISE_VAR"] = _folder
os.environ.pop("EQUIPOISE_STORE", None)
os.environ["REDIS_URL"] = f"unix://{_folder}/redis.sock?db=0"

from webapp.settings import *  # noqa: E402, F403

# A database of this run, which worker processes started by a test can open too: a file rather than memory with SQLite.
_sqlite = DATABASES["default"]["ENGINE"].endswith("sqlite3")  # noqa: F405
_name = f"{_folder}/test.sqlite3" if _sqlite else os.path.basename(_folder)
DATABASES["default"]["TEST"] = {"NAME": _name}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each test client loads the middleware, which would list every static file first; test_static.py has it as on a site.
WHITENOISE_AUTOREFRESH = True
