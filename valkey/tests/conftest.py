"""Fixtures: servers of both kinds with the module loaded."""

import os
import pathlib

import pytest

from clusters import Cluster
from samples import configured
from servers import Server, find_binary

KINDS = ("redis", "valkey")


@pytest.fixture(scope="session")
def module():
    """The path of the module, which `valkey/test` builds."""
    path = pathlib.Path(os.environ["GUIRA_MODULE"]).resolve()
    assert path.is_file(), f"there is no module at {path}"
    return path


@pytest.fixture(scope="session", params=KINDS)
def kind(request):
    """The kind of server. Tests that need one kind only compare it and skip."""
    if find_binary(request.param) is None:
        pytest.skip(f"no {request.param} server is installed")
    return request.param


@pytest.fixture(scope="session")
def shared_server(kind, module, tmp_path_factory):
    server = Server(kind, module, tmp_path_factory.mktemp(kind)).start()
    yield server
    server.check()
    server.stop()


@pytest.fixture
def server(shared_server):
    """A server that tests share. It is empty when a test begins, and must survive the test."""
    with shared_server.client() as client:
        client.execute_command("FLUSHALL", "SYNC")
    yield shared_server
    shared_server.check()


@pytest.fixture
def client(server):
    """A RESP2 client without response callbacks for CF.* commands: replies are as they come."""
    with server.client() as client:
        yield client


@pytest.fixture
def unchecked(server):
    """A client of a server that checks no checksums of its own, so that the module has to."""
    with server.client() as client, configured(client, rdbcompression="no"):
        client.execute_command("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
        yield client
        client.execute_command("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "0")


@pytest.fixture
def resp2(server):
    """A connection whose replies are bytes."""
    with server.wire() as wire:
        yield wire


@pytest.fixture(params=(2, 3), ids=("resp2", "resp3"))
def wire(request, server):
    """As `resp2`, in each protocol. Its attribute `protocol` is 2 or 3."""
    with server.wire(request.param) as wire:
        wire.protocol = request.param
        yield wire


@pytest.fixture
def start_server(kind, module, tmp_path):
    """Starts servers of a test's own: `start_server(option="value", load=True)`."""
    started = []

    def start(load=True, ready=True, **options):
        server = Server(kind, module, tmp_path / f"server-{len(started)}", options, load)
        started.append(server)
        return server.start(ready)

    yield start
    for server in started:
        server.kill()
        server.check_log()


@pytest.fixture
def start_cluster(kind, module, tmp_path):
    """Starts clusters of a test's own: `start_cluster(primaries, replicas)`."""
    started = []

    def start(primaries=3, replicas=3, **options):
        cluster = Cluster(kind, module, tmp_path / "cluster", primaries, replicas, options)
        started.append(cluster)
        cluster.start()
        return cluster

    yield start
    for cluster in started:
        cluster.end()
