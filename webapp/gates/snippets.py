"""What somebody pastes into a build: a script that asks this site, and the same without it."""

from __future__ import annotations

from typing import Any

import yaml

from engine.config.gate import GateConfig

LEFT_OUT = ("kind", "pool")


def script(site: str, slug: str) -> str:
    """A build's step: send the changed numbers, wait for the verdict, keep what the build server draws."""
    return f"""#!/bin/sh -e
# BUILD names the build; balance.csv has its changed numbers, such as: path,value
api() {{ curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$@"; }}
project={site}/api/v1/projects/{slug}
started=$(api --retry 3 -H "Idempotency-Key: $BUILD" -F data=@balance.csv \\
  -F study="{{\\"set\\": {{\\"name\\": \\"Build $BUILD\\"}}}}" "$project/gates") ||
  {{ code=$?; echo "$started" >&2; [ "$code" = 22 ] && exit 2; exit 1; }}  # 22: refused; else not reached
job=$(echo "$started" | jq .job)
until told=$(api --retry 5 "$project/jobs/$job") || {{ echo "$told" >&2; exit 1; }}
  code=$(echo "$told" | jq -e .exit_code); do sleep 10; done
echo "$told" | jq -r .summary.sentence
api "$project/jobs/$job/results?as=junit" -o gate.xml
api "$project/jobs/$job/results?as=csv" -o gate.csv
exit "$code"  # 0 under the line, 3 over, 4 cannot tell
"""


def command(called: str) -> str:
    """The same on a machine that has the engine and no site."""
    return (
        f"python -m engine gate {called} --data balance.csv --junit gate.xml --csv gate.csv\n"
        "# 0 under the line, 3 over, 4 cannot tell; 1 and 2: it could not be run"
    )


def yaml_of(config: dict[str, Any]) -> str:
    """A study as its YAML file, without what is as usual."""
    usual = GateConfig.model_validate({"game": {"simulator": "builtin:herobattle"}}).model_dump(mode="json")
    unusual = {
        name: value
        for name, value in config.items()
        if name not in LEFT_OUT and (name in ("name", "game") or value != usual.get(name))
    }
    said: str = yaml.safe_dump({"kind": "gate", **unusual}, sort_keys=False, allow_unicode=True, width=110)
    return said
