"""Who uses the site in its tests: a project, one member of each role, and a stranger."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import Studio, signed_in, studio


@pytest.fixture
def team() -> Studio:
    """A project and its people; a test that needs data, or a database of its own, has a fixture of this name itself."""
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    """A browser in which the designer is signed in."""
    return signed_in(team.designer)
