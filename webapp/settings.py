"""Every setting of the site, from environment variables (deploy/README.md lists them).

Without any, the site runs for one machine: SQLite and everything else under ``var/``.
"""

from __future__ import annotations

import gc
import hashlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog
from csp.constants import NONE, SELF, UNSAFE_INLINE

from webapp.lib.env import Environment, secret_key
from webapp.lib.logs import without_links
from webapp.lib.reach import settings_let_others_in

# What a process of the site makes as it starts stays: Python need not look through it for garbage every 700 objects.
gc.set_threshold(20_000)

environment = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
# Runtime data is for the user who runs the site alone, also where one part of it is started by hand.
os.umask(0o077)
VAR = Path(environment.text("EQUIPOISE_VAR", str(BASE_DIR / "var"))).resolve()
STORE_DIR, JOBS_DIR, RUN_DIR, TMP_DIR = VAR / "store", VAR / "jobs", VAR / "run", VAR / "tmp"
for folder in (STORE_DIR, JOBS_DIR, RUN_DIR, TMP_DIR):
    folder.mkdir(parents=True, exist_ok=True)

# Where artifacts go: the folder, or s3://bucket/prefix.
STORE = environment.store("EQUIPOISE_STORE", STORE_DIR)

DEBUG = environment.flag("EQUIPOISE_DEBUG", default=False)
SECRET_KEY = secret_key(environment.text("EQUIPOISE_SECRET_KEY"), VAR / "secret")
ALLOWED_HOSTS = environment.words("EQUIPOISE_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("EQUIPOISE_ORIGINS")
HTTPS = environment.flag("EQUIPOISE_HTTPS", default=False)
# Sign-in with the printed demo passwords: never where any setting says that other machines reach the site.
DEMO_PASSWORDS = environment.flag("EQUIPOISE_DEMO_PASSWORDS", default=True) and not settings_let_others_in(
    HTTPS, ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS, os.environ
)

# Where the parts find each other; the supervisor sets these.
RUN = environment.text("EQUIPOISE_RUN")
REDIS_URL = environment.text("REDIS_URL", "redis://127.0.0.1:6379/0")
RAY_ADDRESS_FILE = Path(environment.text("EQUIPOISE_RAY_ADDRESS_FILE", str(RUN_DIR / "ray_address")))
CPUS = environment.count("EQUIPOISE_CPUS", len(os.sched_getaffinity(0)), 1, 4096)
# Jobs that run at once: two even on one processor, so that a night job never keeps a short one from starting.
JOB_SLOTS = environment.count("EQUIPOISE_JOB_SLOTS", max(2, CPUS // 2), 1, 256)
# Below this jobs are paused, so that the database can still write; Ray and all sockets are below /tmp.
DISK_RESERVE = environment.count("EQUIPOISE_DISK_RESERVE_MB", 200, 10, 1_000_000) * 2**20
WATCHED_FOLDERS = (VAR, Path("/tmp"))
# Every job keeps a TensorBoard log in its folder.
TENSORBOARD = environment.flag("EQUIPOISE_TENSORBOARD", default=False)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "webapp.lib",
    "webapp.accounts",
    "webapp.projects",
    "webapp.games",
    "webapp.balance",
    "webapp.studies",
    "webapp.training",
    "webapp.evaluations",
    "webapp.agents",
    "webapp.styles",
    "webapp.hunts",
    "webapp.self_play",
    "webapp.shared_critic",
    "webapp.gossip",
    "webapp.starts",
    "webapp.sensitivity",
    "webapp.worth",
    "webapp.metagame",
    "webapp.arena",
    "webapp.removal",
    "webapp.suspects",
    "webapp.changes",
    "webapp.patches",
    "webapp.gates",
    "webapp.reports",
    "webapp.api",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "webapp.api.errors.one_shape",
    "webapp.lib.static.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "webapp.accounts.middleware.Theirs",
    "webapp.accounts.middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "webapp.lib.disk.FullDisk",
    "webapp.lib.text.PlainText",
]
ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webapp.projects.frame.frame",
                "webapp.lib.disk.banner",
            ],
        },
    },
]

DATABASES = {"default": environment.database("DATABASE_URL", VAR / "db.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["webapp.accounts.backends.NameOrEmailBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "webapp.accounts.demo.NotTheDemoPassword"},
    {"NAME": "webapp.api.passwords.EndTokens"},
]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "/sign-in/", "/", "/sign-in/"

LANGUAGE_CODE, TIME_ZONE, USE_I18N, USE_TZ = "en-gb", environment.text("TZ", "UTC"), False, True

# Browsers and proxies.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_ENGINE = "webapp.lib.sessions"
SESSION_COOKIE_HTTPONLY, SESSION_COOKIE_SAMESITE = True, "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
# Browsers share cookies between the ports of a host: two sites on one machine must not sign each other out.
_SITE = hashlib.sha256(str(VAR).encode()).hexdigest()[:8]
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"equipoise_session_{_SITE}", f"equipoise_csrf_{_SITE}"
DEVICE_COOKIE_NAME = f"equipoise_device_{_SITE}"
CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
FILE_UPLOAD_TEMP_DIR = TMP_DIR
FILE_UPLOAD_HANDLERS = [
    "webapp.games.uploads.BoundedUpload",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # Plotly writes style attributes and a style element; no script may be inline anywhere.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "worker-src": [SELF, "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}


def _static_version() -> str:
    """A name for the present content of every static file: in the URL, it lets browsers keep files for good.

    It stands in the path, not in the file names or a query, so that one ES module can import another by its
    relative path and still get the version of the same page.
    """
    digest = hashlib.sha256(version("plotly").encode())
    for path in sorted(p for p in (BASE_DIR / "static").rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(BASE_DIR)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "webapp.lib.finders.PlotlyFinder",
]
STATIC_URL = f"/static/{_static_version()}/"
WHITENOISE_USE_FINDERS, WHITENOISE_AUTOREFRESH = True, DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False


def _unchanging(path: str, url: str) -> bool:
    return not DEBUG and url.startswith(STATIC_URL)


WHITENOISE_IMMUTABLE_FILE_TEST = _unchanging

# Celery reads the names that begin with CELERY_ (workers/app.py). Only ids travel: the database is the queue's truth.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 2,
    # A server that hangs takes the connection and never answers; a worker's longest wait for a task is one second.
    "socket_timeout": 5,
    "visibility_timeout": 3600,
    # A click must not wait six seconds for a Redis that is away: the reconciler sends what could not be sent.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
CELERY_TASK_SERIALIZER, CELERY_ACCEPT_CONTENT = "json", ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_DEFAULT_QUEUE = "quick"
CELERY_TASK_ROUTES = {"workers.tasks.run_job": {"queue": "jobs"}}
CELERY_IMPORTS = ["workers.tasks", "workers.handshake"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_REDIRECT_STDOUTS = False  # Ray, and every child that writes to a file descriptor, needs the real ones
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False  # early acks: the task was taken, let it finish
CELERY_TIMEZONE, CELERY_ENABLE_UTC = TIME_ZONE, True

_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,  # the job id that a task or a request bound
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
structlog.configure(
    processors=[
        *_PROCESSORS,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
                without_links,
            ],
            "foreign_pre_chain": _PROCESSORS,
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": environment.text("EQUIPOISE_LOG_LEVEL", "INFO").upper()},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        "weasyprint": {"level": "ERROR"},  # it tells every rule of a stylesheet that is not for paper
        "fontTools": {"level": "ERROR"},
    },
}

ENVIRONMENT_PROBLEMS = environment.problems
