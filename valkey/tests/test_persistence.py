"""RDB files, AOF files, and what is left after kill -9 at random moments under load."""

import random
import time

import pytest

from samples import Load, assert_held, half_load, load_chunks, metrics, populate, settings
from servers import wait_until

FORMS = {
    "rdb": {"save": "3600 1"},
    "aof": {"appendonly": "yes"},
    "aof-everysec-text-base": {"appendonly": "yes", "aof-use-rdb-preamble": "no"},
}


def rewrite(client):
    client.execute_command("BGREWRITEAOF")
    wait_until(
        lambda: not (
            client.info("persistence")["aof_rewrite_in_progress"]
            or client.info("persistence")["aof_rewrite_scheduled"]
        ),
        what="the AOF being rewritten",
    )
    assert client.info("persistence")["aof_last_bgrewrite_status"] == "ok"


@pytest.mark.parametrize("rewritten", [False, True], ids=["as-written", "rewritten"])
@pytest.mark.parametrize("form", FORMS)
def test_restart_keeps_every_filter(start_server, form, rewritten):
    server = start_server(**FORMS[form])
    with server.client() as client:
        held = populate(client)
        missing = half_load(client, "half")
        if rewritten:
            client.bgsave() if form == "rdb" else rewrite(client)
        client.execute_command("CF.ADD", "sample:defaults", "after")
        held["sample:defaults"] = ["a", "after"]
        wait_until(lambda: not client.info("persistence")["rdb_bgsave_in_progress"])
        keys = [*held, "half", "half:source"]
        digests = server.digest(*keys)
        infos = [settings(client, key) for key in held]
        expiry = client.pexpiretime("sample:expires")
    server.restart()
    with server.client() as client:
        assert server.digest(*keys) == digests
        assert [settings(client, key) for key in held] == infos
        assert_held(client, held)
        assert client.pexpiretime("sample:expires") == expiry
        load_chunks(client, "half", [missing])
        assert server.digest("half") == server.digest("half:source")


@pytest.mark.parametrize("base", ["yes", "no"], ids=["rdb-base", "text-base"])
def test_kill_at_random_moments_loses_nothing_acknowledged(start_server, base):
    server = start_server(
        appendonly="yes", appendfsync="always", aof_use_rdb_preamble=base
    )
    rng = random.Random(time.time_ns())
    changes = 0
    for number in range(5):
        keys = [f"load:{key}:{number}" for key in range(6)]
        with server.client() as client:
            client.execute_command("CF.RESERVE", keys[1], 10, "EXPANSION", 2)
            client.execute_command("CF.RESERVE", keys[2], 100_000, "ERROR", "0.0001")
        with Load(server.client, keys) as load:
            if rng.random() < 0.6:
                time.sleep(rng.uniform(0, 0.2))
                with server.client() as client:
                    client.execute_command("BGREWRITEAOF")
            time.sleep(rng.uniform(0.05, 0.5))
            server.kill()
        server.start()
        with server.client() as client:
            load.assert_kept(client)
        changes += load.changes
    assert changes > 100


def test_transactions_and_scripts(start_server):
    server = start_server(appendonly="yes")
    with server.client() as client:
        with client.pipeline(transaction=True) as pipeline:
            pipeline.execute_command("CF.RESERVE", "k", 1000, "SEED", 7)
            pipeline.execute_command("CF.INSERT", "k", "ITEMS", "a", "b")
            pipeline.execute_command("CF.DEL", "k", "a")
            assert pipeline.execute() == [b"OK", [1, 1], 1]
        script = (
            "redis.call('CF.ADD', KEYS[1], ARGV[1]); "
            "return redis.call('CF.EXISTS', KEYS[1], 'b')"
        )
        assert client.eval(script, 1, "k", "c") == 1
        assert client.eval("return redis.call('CF.ADDNX', KEYS[1], 'd')", 1, "new") == 1
        digests = server.digest("k", "new")
    server.restart(kill=False)
    assert server.digest("k", "new") == digests
    with server.client() as client:
        assert client.execute_command("CF.MEXISTS", "k", "a", "b", "c") == [0, 1, 1]


def test_other_databases(server, client):
    client.execute_command("CF.INSERT", "k", "ITEMS", "a", "b")
    digest = server.digest("k")
    assert client.move("k", 1)
    assert client.execute_command("CF.EXISTS", "k", "a") == 0
    client.execute_command("SWAPDB", "0", "1")
    assert server.digest("k") == digest
    assert client.copy("k", "k", destination_db=3)
    assert client.execute_command("CF.EXISTS", "k", "a") == 1


def test_a_filter_expires(client):
    client.execute_command("CF.ADD", "k", "a")
    client.pexpire("k", 50)
    wait_until(lambda: client.exists("k") == 0, what="the key being gone")
    assert client.execute_command("CF.EXISTS", "k", "a") == 0
    client.execute_command("CF.INSERT", "k", "SEED", 7, "ITEMS", "b")
    assert client.execute_command("CF.MEXISTS", "k", "a", "b") == [0, 1]


def test_lazy_deletion(client):
    for lazy in (lambda: client.unlink(*client.keys()), lambda: client.flushall(asynchronous=True)):
        populate(client)
        client.execute_command("CF.RESERVE", "large", 1 << 22)
        assert metrics(client)[0] == client.dbsize()
        lazy()
        assert client.dbsize() == 0
        wait_until(lambda: metrics(client) == (0, 0), what="the metrics being zero")
