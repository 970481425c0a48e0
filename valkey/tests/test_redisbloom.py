"""Files of RedisBloom: what the module cannot load stops the server, and is never skipped."""

import pytest
import redis

import redisbloom
from payloads import FOOTER
from samples import chunks, load_chunks
from servers import wait_until
from wire import encode

WAY_OUT = ("RedisBloom", "SCAN with TYPE MBbloomCF", "add the items here")


@pytest.fixture
def files(start_server):
    """Makes a folder with an AOF, and starts the server on it: `files(base, *commands)`."""

    def start(base, *commands, ready=False):
        server = start_server(appendonly="yes", aof_use_rdb_preamble="yes")
        server.stop()
        folder = server.folder / "appendonlydir"
        if base is not None:
            next(folder.glob("*.base.rdb")).write_bytes(base)
        increment = b"".join(map(encode, [("SELECT", 0), *commands]))
        next(folder.glob("*.incr.aof")).write_bytes(increment)
        server.log_path.write_bytes(b"")
        return server.start(ready)

    return start


def assert_refused(server, *words):
    """The server ends by itself, as it does if it cannot read a file, and its log says why."""
    before = {path: path.read_bytes() for path in (server.folder / "appendonlydir").iterdir()}
    wait_until(lambda: server.process.poll() is not None, what="the server ending")
    log = server.log()
    assert server.process.returncode == 1, log
    for word in words:
        assert word in log, (word, log)
    assert {path: path.read_bytes() for path in before} == before


def test_a_filter_in_the_base(files):
    assert_refused(files(redisbloom.rdb({"filter": redisbloom.CUCKOO})), *WAY_OUT)


def test_a_bloom_filter_in_the_base(files):
    """The server itself refuses a type that no module has."""
    assert_refused(files(redisbloom.rdb({"filter": redisbloom.BLOOM})), "MBbloom--")


def test_chunks_in_the_aof(files):
    server = files(None, ("SET", "a", "b"), *redisbloom.dump("filter"))
    assert_refused(server, *WAY_OUT, "CF.LOADCHUNK filter")


def test_restore_and_chunks_of_a_client(server, unchecked):
    client = unchecked
    client.set("text", "a")
    payload = redisbloom.CUCKOO + client.dump("text")[-FOOTER:]
    with pytest.raises(redis.ResponseError):
        client.restore("filter", 0, payload)
    assert "SCAN with TYPE MBbloomCF" in server.log()
    with pytest.raises(redis.ResponseError, match="add the items here"):
        client.execute_command(*redisbloom.dump("filter")[0])
    assert client.exists("filter") == 0


def test_commands_of_redisbloom_load(files):
    """An AOF that was never rewritten holds the items, and so loads."""
    commands = [("CF.RESERVE", "k", 1000, "BUCKETSIZE", 2, "MAXITERATIONS", 20, "EXPANSION", 1)]
    commands += [("CF.ADD", "k", "a"), ("CF.ADDNX", "k", "b"), ("CF.ADDNX", "k", "b")]
    commands += [("CF.INSERT", "k", "CAPACITY", 100, "ITEMS", "c", "d"), ("CF.DEL", "k", "a")]
    commands += [("CF.DEL", "k", "none"), ("CF.INSERTNX", "new", "ITEMS", "c", "c")]
    server = files(None, *commands, ready=True)
    with server.client() as client:
        assert client.execute_command("CF.MEXISTS", "k", *"abcd") == [0, 1, 1, 1]
        assert client.execute_command("CF.COUNT", "new", "c") == 1


def test_what_differs(client):
    """The table in the README."""
    with pytest.raises(redis.ResponseError, match="unknown command"):
        client.execute_command("CF.DEBUG", "k")
    for capacity in (1, 3):
        client.execute_command("CF.RESERVE", f"k{capacity}", capacity, "EXPANSION", 1)
    pairs = chunks(client, "k1")
    assert pairs, "an empty filter has chunks"
    load_chunks(client, "k3", pairs)
    assert client.execute_command("CF.INFO", "k3", "CAPACITY") == [1]
    client.execute_command("CF.RESERVE", "k", 1000, "BUCKETSIZE", 4, "EXPANSION", 1)
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(2500))
    assert client.execute_command("CF.INFO", "k", "FILTERS") == [1], "one table grows"
    assert client.execute_command("CF.INFO", "k", "BUCKETSIZE") == [4]


REFUSED = {
    "a creation": [("CF.RESERVE", "k", 100, "ERROR", "0.000000001")],
    "a copy too many": [("CF.ADD", "k", "a")] * 30,
    "a copy too many of several items": [("CF.INSERT", "k", "ITEMS", "b", *["a"] * 30)],
    "an item without room": [
        ("CF.RESERVE", "k", 16, "EXPANSION", 0),
        ("CF.INSERT", "k", "ITEMS", *range(200)),
    ],
    "in a transaction": [("MULTI",), *[("CF.ADD", "k", "a")] * 30, ("EXEC",)],
    "a damaged chunk": [("CF.LOADCHUNK", "k", 100, bytes(100))],
    "a damaged filter": [("CF.LOAD", "k", bytes(100))],
}


@pytest.mark.parametrize("commands", REFUSED.values(), ids=REFUSED)
def test_a_refused_command_ends_the_load(files, commands):
    assert_refused(files(None, *commands), "of the AOF is refused", "Coming from RedisBloom")
