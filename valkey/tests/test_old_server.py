"""A server that is too old refuses the module, and goes on."""

import os

import pytest
import redis

from servers import HOST, Server

REASON = "the module needs Valkey, or Redis 7.0 or later: this server lacks RedisModule_"


@pytest.fixture
def old_server(module, tmp_path):
    if not os.environ.get("GUIRA_OLD_REDIS_SERVER"):
        pytest.skip("no Redis 6.2 server")
    server = Server("old_redis", module, tmp_path, load=False)
    server.options = {"bind": HOST, "save": ""}
    yield server
    server.kill()


def test_loading_while_it_runs(old_server, module):
    old_server.start()
    with old_server.client() as client:
        assert client.info("server")["redis_version"].startswith("6.2.")
        for _ in range(2):
            with pytest.raises(redis.ResponseError, match="Error loading the extension"):
                client.execute_command("MODULE", "LOAD", str(module))
        assert client.ping() and client.execute_command("MODULE", "LIST") == []
    old_server.check()
    assert old_server.log().count(REASON) == 2


def test_loading_at_the_start(old_server):
    """The server ends, as it does for every module that it cannot load."""
    old_server.load = True
    old_server.start(ready=False)
    assert old_server.process.wait(20) == 1
    log = old_server.log()
    assert REASON in log and "BUG REPORT START" not in log and "panicked" not in log, log
