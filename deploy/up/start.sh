#!/bin/sh
# Finds Python 3.11 and hands over to bootstrap.py: `start.sh run`, `test`, `quick`, `lint` or `bench …`.
cd "$(dirname "$0")/../.." || exit 1
for python in "$PYTHON" python3.11 python3 python; do
    if [ -n "$python" ] && "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        exec "$python" -m deploy.up.bootstrap "$@"
    fi
done
echo "Equipoise needs Python 3.11, and none was found. Install it (Debian, Ubuntu: apt install python3.11 python3.11-venv)," \
    "or name it: make $1 PYTHON=/path/to/python3.11" >&2
exit 1
