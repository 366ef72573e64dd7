"""The site's settings for tests: runtime data in a folder of this process, removed at its end."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="eqp-test-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["EQUIPOISE_VAR"] = _folder
os.environ["REDIS_URL"] = f"unix://{_folder}/redis.sock?db=0"

from webapp.settings import *  # noqa: E402, F403

# A file rather than memory, so that worker processes started by a test can open the same database.
DATABASES["default"]["TEST"] = {"NAME": f"{_folder}/test.sqlite3"}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
