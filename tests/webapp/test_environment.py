"""Settings from environment variables."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from webapp.lib import env
from webapp.lib.env import Environment, secret_key


def test_every_bad_value_is_a_sentence_at_the_check(tmp_path: Path) -> None:
    bad = {"EQUIPOISE_HTTPS": "perhaps", "EQUIPOISE_JOB_SLOTS": "0", "DATABASE_URL": "mysql://root:hunter2@db/site"}
    bad["EQUIPOISE_STORE"] = "s3://Bucket"
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings", "EQUIPOISE_VAR": str(tmp_path), **bad},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "EQUIPOISE_HTTPS is “perhaps”; write 1 for yes or 0 for no." in done.stderr
    assert "EQUIPOISE_JOB_SLOTS is “0”; write a whole number from 1 to 256." in done.stderr
    assert "DATABASE_URL cannot be read; write postgresql://" in done.stderr
    assert "EQUIPOISE_STORE cannot be used: s3://Bucket is no address of a store: write s3://bucket" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_postgresql_address_becomes_djangos_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "find_spec", lambda name: "found")
    monkeypatch.setenv("DATABASE_URL", "postgresql://eq:p%40ss@db.example.org:5433/balance?sslmode=require")
    assert Environment().database("DATABASE_URL", Path("unused")) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "balance",
        "USER": "eq",
        "PASSWORD": "p@ss",
        "HOST": "db.example.org",
        "PORT": 5433,
        "OPTIONS": {"sslmode": "require"},
    }


def test_artifacts_go_where_the_store_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    assert Environment().store("EQUIPOISE_STORE", tmp_path) == str(tmp_path)
    monkeypatch.setenv("EQUIPOISE_STORE", "s3://balance/site/")
    assert Environment().store("EQUIPOISE_STORE", tmp_path) == "s3://balance/site"
    monkeypatch.setenv("EQUIPOISE_STORE", str(tmp_path / "elsewhere"))
    assert Environment().store("EQUIPOISE_STORE", Path("unused")) == str(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("postgresql://eq:hunter2@db:many/balance", "cannot be read; write postgresql://"),
        ("postgresql://eq:hunter2@[db/balance", "cannot be read; write postgresql://"),
        ("postgresql://eq:hunter2@db", "cannot be read; write postgresql://"),
        ("postgresql://eq:hunter2@db/balance", "pip install psycopg psycopg-binary; then start again."),
    ],
)
def test_a_database_that_cannot_be_used_is_a_sentence_without_its_password(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setattr(env, "find_spec", lambda name: None)
    monkeypatch.setenv("DATABASE_URL", value)
    read = Environment()
    assert read.database("DATABASE_URL", Path("here")) == {**env.SQLITE, "NAME": Path("here")}
    assert len(read.problems) == 1
    assert said in read.problems[0]
    assert "hunter2" not in read.problems[0]


def test_the_secret_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    made = secret_key("", path)
    assert len(made) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret_key("", path) == made
    assert secret_key("given", path) == "given"


@pytest.mark.parametrize(
    ("sign", "works"),
    [
        ({}, True),
        ({"EQUIPOISE_HOSTS": "localhost,127.0.0.1,[::1],127.0.0.2,site.localhost"}, True),
        ({"EQUIPOISE_HTTPS": "1"}, False),
        ({"EQUIPOISE_HTTPS": "yes"}, False),
        ({"EQUIPOISE_HOSTS": "127.0.0.1,balance.example.org"}, False),
        ({"EQUIPOISE_HOSTS": "*"}, False),
        ({"EQUIPOISE_HOSTS": "192.0.2.1"}, False),
        ({"EQUIPOISE_ORIGINS": "https://balance.example.org"}, False),
        ({"FORWARDED_ALLOW_IPS": "192.0.2.1"}, False),
    ],
    ids=str,
)
def test_any_setting_for_other_machines_turns_the_demo_passwords_off(
    tmp_path: Path, sign: dict[str, str], works: bool
) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EQUIPOISE_")}
    done = subprocess.run(
        [sys.executable, "-c", "from webapp import settings; print(settings.DEMO_PASSWORDS)"],
        cwd=settings.BASE_DIR,
        env={**plain, "EQUIPOISE_VAR": str(tmp_path), "EQUIPOISE_DEMO_PASSWORDS": "1", **sign},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(works)
