"""What the server knows of the module: access control, keys, events, metrics, settings."""

import pytest
import redis

from clusters import decode
from samples import chunks, load_chunks
from test_persistence import rewrite

READS = ["cf.exists", "cf.mexists", "cf.count", "cf.info", "cf.scandump"]
WRITES = ["cf.reserve", "cf.add", "cf.addnx", "cf.insert", "cf.insertnx", "cf.del"]
WRITES += ["cf.compact", "cf.loadchunk", "cf.load"]
ALLOCATING = ["cf.reserve", "cf.add", "cf.addnx", "cf.insert", "cf.insertnx", "cf.loadchunk"]
ARITY = {
    "cf.reserve": -3,
    "cf.add": 3,
    "cf.addnx": 3,
    "cf.insert": -4,
    "cf.insertnx": -4,
    "cf.exists": 3,
    "cf.mexists": -3,
    "cf.del": 3,
    "cf.count": 3,
    "cf.info": -2,
    "cf.scandump": 3,
    "cf.loadchunk": 4,
    "cf.compact": 2,
}
EXAMPLES = {
    "cf.reserve": ("k", 100, "ERROR", "0.01"),
    "cf.add": ("k", "a"),
    "cf.addnx": ("k", "a"),
    "cf.insert": ("k", "CAPACITY", 100, "ITEMS", "a", "b"),
    "cf.insertnx": ("k", "ITEMS", "a", "b"),
    "cf.exists": ("k", "a"),
    "cf.mexists": ("k", "a", "b", "c"),
    "cf.del": ("k", "a"),
    "cf.count": ("k", "a"),
    "cf.info": ("k",),
    "cf.scandump": ("k", 0),
    "cf.loadchunk": ("k", 1, "data"),
    "cf.compact": ("k",),
}




def ask(server, *words):
    """Returns a reply without what a client library makes of it."""
    with server.wire() as wire:
        wire.send(*words)
        return decode(wire)


@pytest.mark.parametrize("name", ARITY)
def test_command_table(kind, server, name):
    # Name, arity, flags, first key, last key, step, and categories.
    [row] = ask(server, "COMMAND", "INFO", name)
    assert row[0] == name.encode()
    assert row[1] == ARITY[name]
    assert row[3:6] == [1, 1, 1]
    flags = {flag.lstrip(b"+").decode() for flag in row[2]}
    assert ("write" in flags) == (name in WRITES)
    assert ("readonly" in flags) == (name in READS)
    assert ("denyoom" in flags) == (name in ALLOCATING)
    categories = {category.decode() for category in row[6]}
    if kind != "redis":  # modules have no categories before Redis 7.4
        assert ("@write" in categories) == (name in WRITES)
        assert ("@read" in categories) == (name in READS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_keys_of_commands(server, name):
    words = [name, *EXAMPLES[name]]
    assert ask(server, "COMMAND", "GETKEYS", *words) == [b"k"]
    [[key, flags]] = ask(server, "COMMAND", "GETKEYSANDFLAGS", *words)
    assert key == b"k"
    if name in READS:
        assert set(flags) == {b"RO", b"access"}
    else:
        assert b"RO" not in flags and set(flags) & {b"RW", b"OW"}


def test_documentation_of_commands(server):
    for name in ARITY:
        [found, fields] = ask(server, "COMMAND", "DOCS", name)
        fields = dict(zip(fields[::2], fields[1::2]))
        assert found == name.encode()
        assert fields[b"summary"] and fields[b"complexity"].startswith(b"O(")


def test_category_cuckoo(kind, server):
    if kind != "valkey":
        pytest.skip("modules have no categories of their own before Redis 7.4")
    assert b"cuckoo" in ask(server, "ACL", "CAT")
    assert {name.decode() for name in ask(server, "ACL", "CAT", "cuckoo")} == {*READS, *WRITES}


def test_rights_by_category(kind, server, client):
    if kind != "valkey":
        pytest.skip("modules have no categories of their own before Redis 7.4")
    client.execute_command("ACL SETUSER", "filters", "on", ">pw", "~cf:*", "-@all", "+@cuckoo")
    try:
        with server.client(username="filters", password="pw") as user:
            assert user.execute_command("CF.ADD", "cf:1", "a") == 1
            assert user.execute_command("CF.EXISTS", "cf:1", "a") == 1
            with pytest.raises(redis.exceptions.NoPermissionError):
                user.execute_command("CF.ADD", "other", "a")
            with pytest.raises(redis.exceptions.NoPermissionError):
                user.execute_command("SET", "cf:2", "a")
    finally:
        client.execute_command("ACL DELUSER", "filters")


def test_rights_to_read_and_write(kind, server, client):
    client.execute_command("CF.ADD", "read:1", "a")
    rules = ("on", ">pw", "%R~read:*", "%W~write:*", "+@all")
    client.execute_command("ACL SETUSER", "limited", *rules)
    try:
        with server.client(username="limited", password="pw") as user:
            for words in (("CF.EXISTS", "read:1", "a"), ("CF.INFO", "read:1")):
                user.execute_command(*words)
            for words in (
                ("CF.ADD", "read:1", "b"),
                ("CF.DEL", "read:1", "a"),
                ("CF.LOADCHUNK", "read:1", 1, "x"),
                ("CF.EXISTS", "write:1", "a"),
                ("CF.MEXISTS", "write:1", "a"),
                ("CF.SCANDUMP", "write:1", 0),
            ):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    user.execute_command(*words)
        if kind == "redis":  # modules have no categories before Redis 7.4
            return
        client.execute_command("ACL SETUSER", "limited", "-@write")
        client.execute_command("ACL SETUSER", "limited", "~*")
        with server.client(username="limited", password="pw") as user:
            for name in READS:
                if name != "cf.scandump":
                    words = ("read:1", *EXAMPLES[name][1:])
                    user.execute_command(name, *words)
            for name in WRITES:
                if name in EXAMPLES:
                    with pytest.raises(redis.exceptions.NoPermissionError):
                        user.execute_command(name, *EXAMPLES[name])
    finally:
        client.execute_command("ACL DELUSER", "limited")


def test_keyspace_events(server, client):
    client.config_set("notify-keyspace-events", "KEA")
    try:
        with server.client() as listener:
            subscriber = listener.pubsub(ignore_subscribe_messages=True)
            subscriber.psubscribe("__keyspace@0__:*")
            subscriber.get_message(timeout=5)
            silent = [
                ("CF.ADDNX", "k", "a"),
                ("CF.INSERTNX", "k", "ITEMS", "a"),
                ("CF.DEL", "k", "none"),
                ("CF.EXISTS", "k", "a"),
                ("CF.INFO", "k"),
                ("CF.SCANDUMP", "k", 0),
            ]
            client.execute_command("CF.RESERVE", "k", 100, "SEED", 7)
            client.execute_command("CF.ADD", "k", "a")
            for words in silent:
                client.execute_command(*words)
            client.execute_command("CF.ADDNX", "k", "b")
            client.execute_command("CF.INSERT", "k", "ITEMS", "c", "d")
            client.execute_command("CF.INSERTNX", "k", "ITEMS", "c", "e")
            client.execute_command("CF.DEL", "k", "a")
            pairs = chunks(client, "k")
            client.delete("k")
            load_chunks(client, "k", pairs[:1])
            events = []
            while message := subscriber.get_message(timeout=0.5):
                events.append(message["data"].decode())
    finally:
        client.config_set("notify-keyspace-events", "")
    expected = ["cf.reserve", "cf.add", "cf.addnx", "cf.insert", "cf.insertnx", "cf.del"]
    assert [event for event in events if event not in ("new",)] == [
        *expected,
        "del",
        "cf.loadchunk",
    ]


def test_watching_a_key(server, client):
    """A transaction is given up if the filter changed, and only then."""
    client.execute_command("CF.RESERVE", "k", 100, "SEED", 7)
    client.execute_command("CF.ADD", "k", "a")
    for words, changes in (
        (("CF.ADD", "k", "b"), True),
        (("CF.ADDNX", "k", "a"), False),
        (("CF.EXISTS", "k", "a"), False),
        (("CF.SCANDUMP", "k", 0), False),
        (("CF.DEL", "k", "none"), False),
        (("CF.DEL", "k", "b"), True),
        (("CF.INSERTNX", "k", "ITEMS", "a", "z"), True),
    ):
        with server.wire() as wire:
            wire.call("WATCH", "k")
            client.execute_command(*words)
            wire.call("MULTI")
            wire.call("PING")
            reply = wire.call("EXEC")
            assert reply == (b"*-1\r\n" if changes else b"*1\r\n+PONG\r\n"), words


def module_info(client):
    return {
        name: value
        for name, value in client.info("everything").items()
        if name.startswith("guira_") and name not in ("guira_version",)
    }


def test_section_of_info(client):
    empty = module_info(client)
    assert empty, "INFO has no section of the module"
    client.execute_command("CF.RESERVE", "a", 10_000)
    client.execute_command("CF.RESERVE", "b", 10_000)
    two = module_info(client)
    assert two != empty
    size = client.memory_usage("a") + client.memory_usage("b")
    grown = {name: two[name] - empty[name] for name in two if isinstance(two[name], int)}
    assert 2 in grown.values()
    assert any(abs(value - size) < 500 for value in grown.values()), (grown, size)
    client.execute_command("FLUSHALL", "SYNC")
    after = module_info(client)
    assert {name: after[name] for name in grown} == {name: empty[name] for name in grown}


SETTINGS = {
    "guira.max-filter-bytes": ("4096", "137438953472", ["0", "-1", "4095", "x"]),
    "guira.capacity": ("1", "4294967296", ["0", "-1", "x"]),
    "guira.expansion": ("0", "32768", ["-1", "32769", "x"]),
    "guira.error-rate": ("0.00005", "0.5", ["0", "1", "-0.1", "nan", "inf", "x", ""]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_of_settings(client, name):
    low, high, refused = SETTINGS[name]
    initial = client.config_get(name)[name]
    try:
        for value in (low, high):
            client.config_set(name, value)
            assert float(client.config_get(name)[name]) == float(value)
        for value in refused:
            with pytest.raises(redis.ResponseError):
                client.config_set(name, value)
            assert float(client.config_get(name)[name]) == float(high)
    finally:
        client.config_set(name, initial)


def test_settings_decide_what_new_filters_are(client):
    names = ("guira.capacity", "guira.expansion", "guira.error-rate")
    initial = {name: client.config_get(name)[name] for name in names}
    try:
        client.config_set("guira.capacity", 50_000)
        client.config_set("guira.expansion", 4)
        client.config_set("guira.error-rate", "0.0001")
        client.execute_command("CF.ADD", "k", "a")
        assert client.execute_command("CF.INFO", "k", "EXPANSION") == [4]
        assert client.memory_usage("k") > 50_000
        items = [f"item {number}" for number in range(40_000)]
        client.execute_command("CF.INSERT", "k", "ITEMS", *items)
        absent = [f"absent {number}" for number in range(100_000)]
        assert sum(client.execute_command("CF.MEXISTS", "k", *absent)) <= 40
    finally:
        for name, value in initial.items():
            client.config_set(name, value)


def test_settings_at_the_start(start_server):
    server = start_server(**{"guira.capacity": "5000", "guira.error-rate": "0.001"})
    with server.client() as client:
        assert client.config_get("guira.capacity")["guira.capacity"] == "5000"
        client.execute_command("CF.ADD", "k", "a")
        assert client.memory_usage("k") > 5000


def test_the_limit_on_the_memory_of_a_filter(server, client):
    client.execute_command("CF.RESERVE", "large", 1 << 20)
    dump = client.dump("large")
    pairs = chunks(client, "large")
    client.delete("large")
    client.config_set("guira.max-filter-bytes", 100_000)
    try:
        used = client.info("memory")["used_memory_peak"]
        with server.wire() as wire:
            for words in (
                ("CF.RESERVE", "k", str(1 << 20)),
                ("CF.RESERVE", "k", str((1 << 63) - 1)),
                ("CF.INSERT", "k", "CAPACITY", str(1 << 20), "ITEMS", "a"),
                ("RESTORE", "k", "0", dump),
            ):
                reply = wire.call(*words)
                assert reply.startswith(b"-ERR"), reply
                assert wire.call("EXISTS", "k") == b":0\r\n"
            replies = [wire.call("CF.LOADCHUNK", "k", i, data) for i, data in pairs]
            assert any(reply.startswith(b"-ERR") for reply in replies)
        client.delete("k")
        client.execute_command("CF.RESERVE", "k", 1000, "EXPANSION", 2)
        replies = [
            number
            for start in range(0, 60_000, 5_000)
            for number in client.execute_command(
                "CF.INSERT", "k", "ITEMS", *range(start, start + 5_000)
            )
        ]
        assert -1 in replies and replies.count(1) > 10_000
        assert client.memory_usage("k") <= 110_000
        added = [number for number, reply in enumerate(replies) if reply == 1]
        for start in range(0, len(added), 10_000):
            part = added[start : start + 10_000]
            assert client.execute_command("CF.MEXISTS", "k", *part) == [1] * len(part)
        assert client.info("memory")["used_memory_peak"] - used < 30_000_000
    finally:
        client.config_set("guira.max-filter-bytes", 1 << 30)


def test_limits_do_not_apply_to_what_a_primary_sends(start_server):
    primary = start_server()
    replica = start_server(**{"guira.max-filter-bytes": "4096"})
    replica.replicate(primary)
    with primary.client() as client:
        client.execute_command("CF.RESERVE", "k", 100_000)
        client.execute_command("CF.RESERVE", "grows", 100, "EXPANSION", 2)
        client.execute_command("CF.INSERT", "grows", "ITEMS", *range(50_000))
    replica.wait_synced(primary)
    assert replica.digest("k", "grows") == primary.digest("k", "grows")
    with primary.client() as client:
        client.execute_command("DEBUG", "CHANGE-REPL-ID")
    replica.stop()
    replica.start()
    replica.replicate(primary)
    assert replica.digest("k", "grows") == primary.digest("k", "grows")


def test_limits_do_not_apply_to_files(start_server):
    server = start_server(appendonly="yes", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.execute_command("CF.RESERVE", "k", 100_000)
        client.execute_command("CF.RESERVE", "grows", 100, "EXPANSION", 2)
        client.execute_command("CF.INSERT", "grows", "ITEMS", *range(50_000))
        digests = server.digest("k", "grows")
    server.options["guira.max-filter-bytes"] = "4096"
    server.restart()
    assert server.digest("k", "grows") == digests
    with server.client() as client:
        rewrite(client)
    server.restart()
    assert server.digest("k", "grows") == digests


def test_module_cannot_be_unloaded_while_it_has_a_type(client):
    with pytest.raises(redis.ResponseError):
        client.execute_command("MODULE", "UNLOAD", "guira")
    assert client.execute_command("CF.ADD", "k", "a") == 1
