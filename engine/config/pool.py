"""Where a study's evaluations run, as data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.config.base import Config


class PoolConfig(Config):
    """Where evaluations run."""

    kind: Literal["ray", "local"] = Field("ray", title="Workers", description="ray: Ray actors; local: this process.")
    workers: int = Field(2, ge=1, le=1024, title="Number of workers")
    batch_ms: int = Field(100, ge=1, le=10_000, title="Work handed out at a time", description="milliseconds")
    address: str = Field(
        "", max_length=200, title="Ray address", description="Empty: EQUIPOISE_RAY_ADDRESS, or a Ray of its own."
    )

    @property
    def processes(self) -> int:
        """In how many processes evaluations run."""
        return self.workers if self.kind == "ray" else 1
