"""Every callback of the module panics once, on request, and the server goes on.

The module is one that is built for this: it panics in the callback that a file names.
"""

import contextlib
import itertools
import os
import pathlib
import re

import pytest
import redis

import redisbloom
from commands import COMMANDS, example
from payloads import FOOTER
from servers import wait_until

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
# Callbacks, with a command that calls them, and what is in the reply. None: any reply will do.
METHODS = {
    "mem_usage": (("MEMORY", "USAGE", "k"), None),
    "digest": (("DEBUG", "DIGEST-VALUE", "k"), None),
    "free_effort": (("UNLINK", "k"), "1"),
    "free": (("DEL", "k"), "1"),
    "copy": (("COPY", "k", "new"), "ERR module key failed to copy"),
    "get_rate": (("CONFIG", "GET", "guira.error-rate"), "guira.error-rate"),
    "set_rate": (("CONFIG", "SET", "guira.error-rate", "0.5"), "ERR CONFIG SET failed"),
    "info": (("INFO", "everything"), "redis_version"),
}
OTHERS = {"free_by_a_thread", "load", "rdb_save", "aof_rewrite", "rdb_load", "foreign_rdb_load"}


def test_every_callback_is_here():
    """Each function that the server can call is guarded, and its panic is tested."""
    text = "".join(path.read_text() for path in SOURCES.rglob("*.rs"))
    guarded = set(re.findall(r'(?:guarded|saving)\(\s*c"(\w+)"', text))
    assert guarded == {*METHODS, *OTHERS}
    assert set(re.findall(r'^    c"(cf\.\w+)",', text, re.MULTILINE)) == {*map(str.lower, COMMANDS)}
    called = set(re.findall(r'extern "C" fn (\w+)\(', text)) - {"guira_checksum"}
    assert called == guarded - {"free_by_a_thread", "load"} | {"RedisModule_OnLoad", "entry"}


@pytest.fixture
def module():
    """The module that panics."""
    path = os.environ.get("GUIRA_PANICKING_MODULE")
    if not path:
        pytest.skip("no module that panics: set GUIRA_PANICKING_MODULE, or run valkey/test")
    return path


@pytest.fixture
def start(start_server):
    def start(**options):
        server = start_server(**options)
        server.may_panic = True
        return server

    return start


@contextlib.contextmanager
def panic(server, callback):
    """While this is entered, a callback panics. It must do so, and the server must live on."""
    (server.folder / "panic").write_text(callback)
    yield
    (server.folder / "panic").unlink()
    assert f"guira: {callback} panicked" in server.log()
    assert server.alive()
    with server.client() as client:
        assert client.execute_command("CF.ADD", "after", callback) == 1


@pytest.fixture
def prepared(start):
    server = start()
    with server.client() as client:
        client.execute_command("CF.RESERVE", "k", 100_000, "SEED", 7)
        client.execute_command("CF.ADD", "k", "a")
        yield server, client


def test_commands(prepared):
    server, client = prepared
    digest = server.digest("k")
    for name, key in itertools.product(COMMANDS, ("k", "new")):
        with panic(server, name.lower()):
            with pytest.raises(redis.ResponseError, match="internal error: see the server's log"):
                client.execute_command(*example(name, key))
        assert server.digest("k") == digest and client.exists("new") == 0


def test_methods(prepared):
    server, client = prepared
    for callback, (words, expected) in METHODS.items():
        with panic(server, callback):
            try:
                reply = str(client.execute_command(*words))
            except redis.ResponseError as error:
                reply = f"ERR {error}"
            assert expected is None or expected in reply, (callback, reply)
        client.execute_command("CF.ADDNX", "k", "a")


def test_freeing_by_a_thread(prepared):
    """A large filter is freed by a thread, so that DEL does not hold the server."""
    server, client = prepared
    client.execute_command("CF.RESERVE", "large", 120_000_000)
    assert client.memory_usage("large") > 1 << 28
    (server.folder / "panic").write_text("free_by_a_thread")
    client.delete("k")
    assert "panicked" not in server.log()
    client.delete("large")
    wait_until(lambda: "guira: free_by_a_thread panicked" in server.log())
    assert server.alive()


def test_loading_the_module(start):
    server = start(load=False)
    with server.client() as client:
        (server.folder / "panic").write_text("load")
        with pytest.raises(redis.ResponseError, match="Error loading the extension"):
            client.execute_command("MODULE", "LOAD", str(server.module))
        assert "guira: load panicked" in server.log()
        (server.folder / "panic").unlink()
        client.execute_command("MODULE", "LOAD", str(server.module))
        assert client.execute_command("CF.ADD", "k", "a") == 1


def test_restore(prepared):
    server, client = prepared
    payload = client.dump("k")
    with panic(server, "rdb_load"):
        with pytest.raises(redis.ResponseError, match="Bad data format"):
            client.restore("new", 0, payload)
    foreign = redisbloom.CUCKOO + payload[-FOOTER:]
    client.execute_command("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
    with panic(server, "foreign_rdb_load"):
        with pytest.raises(redis.ResponseError, match="Bad data format"):
            client.restore("new", 0, foreign)


def test_a_payload_that_lacks_a_part_is_refused(prepared):
    server, client = prepared
    with panic(server, "rdb_save"):
        payload = client.dump("k")
    with pytest.raises(redis.ResponseError, match="Bad data format"):
        client.restore("new", 0, payload)
    assert "is not saved completely" in server.log()


def test_a_failed_save_keeps_the_last_file(prepared):
    server, client = prepared
    client.save()
    saved = (server.folder / "dump.rdb").read_bytes()
    for words in (("SAVE",), ("DEBUG", "RELOAD")):
        with panic(server, "rdb_save"), pytest.raises(redis.ResponseError):
            client.execute_command(*words)
        assert (server.folder / "dump.rdb").read_bytes() == saved
    with panic(server, "rdb_save"):
        client.bgsave()
        wait_until(lambda: not client.info("persistence")["rdb_bgsave_in_progress"])
    assert client.info("persistence")["rdb_last_bgsave_status"] == "err"
    assert (server.folder / "dump.rdb").read_bytes() == saved


def test_a_failed_rewrite_keeps_the_aof(start):
    server = start(appendonly="yes", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.execute_command("CF.ADD", "k", "a")
        with panic(server, "aof_rewrite"):
            client.bgrewriteaof()
            wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
        assert client.info("persistence")["aof_last_bgrewrite_status"] == "err"
        digest = server.digest("k")
    server.restart()
    assert server.digest("k") == digest


def test_a_panic_while_the_aof_loads_loses_nothing(start):
    server = start(appendonly="yes")
    with server.client() as client:
        client.execute_command("CF.ADD", "k", "a")
        digest = server.digest("k")
    server.stop()
    (server.folder / "panic").write_text("cf.add")
    server.start(ready=False)
    assert server.process.wait(20) == 1
    assert "CF.ADD k of the AOF is refused" in server.log()
    (server.folder / "panic").unlink()
    server.start()
    assert server.digest("k") == digest
