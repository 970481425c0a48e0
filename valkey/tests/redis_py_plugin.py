"""Lets redis-py's own tests collect: they look for a module named `bf` among those loaded."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    from tests.conftest import REDIS_INFO

    REDIS_INFO.setdefault("modules", []).append({"name": "bf", "ver": 999999})
