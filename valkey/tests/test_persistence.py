"""RDB files, AOF files, and what is left after kill -9 at random moments under load."""

import random
import time

import pytest
import redis

from samples import Load, assert_held, half_load, info, load_chunks, metrics, populate
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


def settings(client, key):
    """All that CF.INFO says but the memory, which an allocator may round in another way."""
    return {name: value for name, value in info(client, key).items() if name != b"Size"}


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


def test_debug_reload_keeps_every_filter(server, client):
    held = populate(client)
    half_load(client, "half")
    digests = server.digest(*held, "half")
    client.execute_command("DEBUG", "RELOAD")
    assert server.digest(*held, "half") == digests
    assert_held(client, held)


def copy_by_payload(source, key, target, name):
    """Restores what DUMP gives, with the time to live, which is a part of the digest."""
    expiry = source.pexpiretime(key)
    target.restore(name, max(expiry, 0), source.dump(key), absttl=True)


def test_dump_and_restore(server, client):
    held = populate(client)
    for key in held:
        copy_by_payload(client, key, client, "copy:" + key)
        assert server.digest("copy:" + key) == server.digest(key)
    assert_held(client, {"copy:" + key: items for key, items in held.items()})


def test_a_filter_moves_between_the_kinds_of_server(start_server, server, client, kind):
    """The payload of one server is that of another: the module decides it alone."""
    held = populate(client)
    payloads = {key: client.dump(key)[:-10] for key in held}
    other = start_server()
    with other.client() as second:
        for key in held:
            copy_by_payload(client, key, second, key)
        assert {key: second.dump(key)[:-10] for key in held} == payloads
        assert other.digest(*held) == server.digest(*held)


def test_copies_are_independent(server, client):
    held = populate(client)
    for key in held:
        assert client.copy(key, "copy:" + key)
        assert server.digest("copy:" + key) == server.digest(key)
    before = server.digest(*held)
    for key in held:
        if key != "sample:full":
            client.execute_command("CF.ADD", "copy:" + key, "another")
            assert server.digest("copy:" + key) != server.digest(key)
        client.execute_command("UNLINK", "copy:" + key)
    assert server.digest(*held) == before
    assert_held(client, held)


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
        load = Load(server.client, keys, threads=2, seed=number).start()
        if rng.random() < 0.6:
            time.sleep(rng.uniform(0, 0.2))
            with server.client() as client:
                client.execute_command("BGREWRITEAOF")
        time.sleep(rng.uniform(0.05, 0.5))
        server.kill()
        load.stop()
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


def test_metrics_after_lazy_deletion(client):
    populate(client)
    client.execute_command("CF.RESERVE", "large", 1 << 22)
    assert metrics(client)[0] == client.dbsize()
    for key in client.keys():
        client.execute_command("UNLINK", key)
    wait_until(lambda: metrics(client) == (0, 0), what="the metrics being zero")


def test_lazy_and_eager_deletion(client):
    for command in ("DEL", "UNLINK"):
        client.execute_command("CF.RESERVE", "k", 1 << 20)
        client.execute_command("CF.ADD", "k", "a")
        assert client.execute_command(command, "k") == 1
        assert client.execute_command("CF.EXISTS", "k", "a") == 0
    populate(client)
    client.execute_command("FLUSHALL", "ASYNC")
    assert client.dbsize() == 0
    populate(client)
    with pytest.raises(redis.ResponseError):
        client.restore("sample:grown", 0, client.dump("sample:empty"))
