"""What the server knows of the module: access control, keys, events, metrics, settings."""

import pytest
import redis

from commands import COMMANDS, example, having
from samples import chunks, configured, load_chunks, metrics

READS, WRITES = having("readonly"), having("write")


@pytest.mark.parametrize("name", COMMANDS)
def test_command_table(kind, wire, name):
    command = COMMANDS[name]
    # Name, arity, flags, first key, last key, step, and categories.
    [row] = wire.call("COMMAND", "INFO", name, decode=True)
    assert row[0] == name.lower().encode()
    assert row[1] == command.arity
    assert row[3:6] == [1, 1, 1]
    flags = {flag.lstrip(b"+").decode() for flag in row[2]}
    assert flags & {"readonly", "write", "denyoom", "fast"} == {*command.flags.split()}
    categories = {category.lstrip(b"+@").decode() for category in row[6]}
    if kind != "redis":  # modules have no categories before Redis 7.4
        assert ("write" in categories) == (name in WRITES)
        assert ("read" in categories) == (name in READS)
        assert ("fast" in categories) == ("fast" in flags)
        assert ("dangerous" in categories) == (name == "CF.REPLAY")


@pytest.mark.parametrize("name", COMMANDS)
def test_keys_of_commands(wire, name):
    words = example(name)
    assert wire.call("COMMAND", "GETKEYS", *words, decode=True) == [b"k"]
    [[key, flags]] = wire.call("COMMAND", "GETKEYSANDFLAGS", *words, decode=True)
    assert key == b"k"
    if name in READS:
        assert set(flags) == {b"RO", b"access"}
    else:
        assert b"RO" not in flags and set(flags) & {b"RW", b"OW"}


def test_documentation_of_commands(resp2):
    for name in COMMANDS:
        [found, fields] = resp2.call("COMMAND", "DOCS", name, decode=True)
        fields = dict(zip(fields[::2], fields[1::2]))
        assert found == name.lower().encode()
        assert fields[b"summary"] and fields[b"complexity"].startswith(b"O(")


@pytest.fixture
def user(client):
    """Makes a user with these rights, and connects as that user: `user(*rules)`."""

    def connect(server, *rules):
        client.execute_command("ACL SETUSER", "limited", "on", ">pw", *rules)
        return server.client(username="limited", password="pw")

    yield connect
    client.execute_command("ACL DELUSER", "limited")


def assert_denied(client, *words):
    with pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command(*words)


def test_rights_by_category(kind, server, wire, user):
    if kind != "valkey":
        pytest.skip("modules have no categories of their own before Redis 7.4")
    assert b"cuckoo" in wire.call("ACL", "CAT", decode=True)
    members = {name.decode().upper() for name in wire.call("ACL", "CAT", "cuckoo", decode=True)}
    assert members == {*COMMANDS}
    with user(server, "~cf:*", "-@all", "+@cuckoo") as limited:
        assert limited.execute_command("CF.ADD", "cf:1", "a") == 1
        assert limited.execute_command("CF.EXISTS", "cf:1", "a") == 1
        assert_denied(limited, "CF.ADD", "other", "a")
        assert_denied(limited, "SET", "cf:2", "a")
    with user(server, "~cf:*", "-@all", "+@write", "-@dangerous") as limited:
        assert limited.execute_command("CF.ADDNX", "cf:1", "a") == 0
        assert_denied(limited, *example("CF.REPLAY", "cf:1"))


def test_rights_to_read_and_write(kind, server, client, user):
    client.execute_command("CF.ADD", "read:1", "a")
    with user(server, "%R~read:*", "%W~write:*", "+@all") as limited:
        for name in ("CF.EXISTS", "CF.INFO"):
            limited.execute_command(*example(name, "read:1"))
        for name in ("CF.ADD", "CF.DEL", "CF.LOADCHUNK"):
            assert_denied(limited, *example(name, "read:1"))
        for name in ("CF.EXISTS", "CF.MEXISTS", "CF.SCANDUMP"):
            assert_denied(limited, *example(name, "write:1"))
    if kind == "redis":  # modules have no categories before Redis 7.4
        return
    with user(server, "-@write", "~*") as limited:
        for name in READS:
            limited.execute_command(*example(name, "read:1"))
        for name in WRITES:
            assert_denied(limited, *example(name, "read:1"))


CALLS = (
    # With whether it changes the key.
    (("CF.RESERVE", "k", 100, "SEED", 7), True),
    (("CF.ADD", "k", "a"), True),
    (("CF.ADDNX", "k", "a"), False),
    (("CF.INSERTNX", "k", "ITEMS", "a"), False),
    (("CF.DEL", "k", "none"), False),
    (("CF.EXISTS", "k", "a"), False),
    (("CF.INFO", "k"), False),
    (("CF.SCANDUMP", "k", 0), False),
    (("CF.ADDNX", "k", "b"), True),
    (("CF.INSERT", "k", "ITEMS", "c", "d"), True),
    (("CF.INSERTNX", "k", "ITEMS", "c", "e"), True),
    (("CF.DEL", "k", "a"), True),
    (("CF.REPLAY", "k", "f", 0, 0, 1, 50_000), False),
    (("CF.REPLAY", "k", "f", 1, 1, 1, 50_000), True),
)


def test_events_and_watched_keys(server, client):
    """A change publishes an event, and ends a transaction that watches the key."""
    events = {"notify-keyspace-events": "KEA"}
    with configured(client, **events), server.client() as listener, server.wire() as wire:
        subscriber = listener.pubsub(ignore_subscribe_messages=True)
        subscriber.psubscribe("__keyspace@0__:*")
        subscriber.get_message(timeout=5)
        for words, changes in CALLS:
            wire.call("WATCH", "k")
            client.execute_command(*words)
            wire.call("MULTI")
            wire.call("PING")
            assert wire.call("EXEC") == (b"*-1\r\n" if changes else b"*1\r\n+PONG\r\n"), words
        pairs = chunks(client, "k")
        client.delete("k")
        load_chunks(client, "k", pairs[:1])
        seen = []
        while message := subscriber.get_message(timeout=0.5):
            seen.append(message["data"].decode())
    expected = [words[0].lower() for words, changes in CALLS if changes]
    expected[-1] = "cf.addnx"  # which the replay is
    assert [event for event in seen if event != "new"] == [*expected, "del", "cf.loadchunk"]


def test_section_of_info(client):
    assert metrics(client) == (0, 0)
    client.execute_command("CF.RESERVE", "a", 10_000)
    client.execute_command("CF.RESERVE", "b", 10_000)
    filters, size = metrics(client)
    assert filters == 2
    assert abs(client.memory_usage("a") + client.memory_usage("b") - size) < 500
    client.execute_command("FLUSHALL", "SYNC")
    assert metrics(client) == (0, 0)


SETTINGS = {
    "guira.max-filter-bytes": ("4096", "137438953472", ["0", "-1", "4095", "x"]),
    "guira.capacity": ("1", "4294967296", ["0", "-1", "x"]),
    "guira.expansion": ("0", "32768", ["-1", "32769", "x"]),
    "guira.error-rate": ("0.00005", "0.5", ["0", "1", "-0.1", "nan", "inf", "x", ""]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_of_settings(client, name):
    low, high, refused = SETTINGS[name]
    with configured(client, **{name: low}):
        assert float(client.config_get(name)[name]) == float(low)
        client.config_set(name, high)
        for value in refused:
            with pytest.raises(redis.ResponseError):
                client.config_set(name, value)
            assert float(client.config_get(name)[name]) == float(high)


def test_settings_decide_what_new_filters_are(client):
    settings = {"guira.capacity": 50_000, "guira.expansion": 4, "guira.error-rate": "0.0001"}
    with configured(client, **settings):
        client.execute_command("CF.ADD", "k", "a")
        assert client.execute_command("CF.INFO", "k", "EXPANSION") == [4]
        assert client.memory_usage("k") > 50_000
        client.execute_command("CF.INSERT", "k", "ITEMS", *range(40_000))
        absent = [f"absent {number}" for number in range(100_000)]
        assert sum(client.execute_command("CF.MEXISTS", "k", *absent)) <= 40


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
    peak = client.info("memory")["used_memory_peak"]
    with configured(client, **{"guira.max-filter-bytes": 100_000}), server.wire() as wire:
        for words in (
            ("CF.RESERVE", "k", 1 << 20),
            ("CF.RESERVE", "k", (1 << 63) - 1),
            ("CF.INSERT", "k", "CAPACITY", 1 << 20, "ITEMS", "a"),
            ("RESTORE", "k", 0, dump),
        ):
            reply = wire.call(*words)
            assert reply.startswith(b"-ERR"), reply
            assert wire.call("EXISTS", "k") == b":0\r\n"
        replies = [wire.call("CF.LOADCHUNK", "k", i, data) for i, data in pairs]
        assert any(reply.startswith(b"-ERR") for reply in replies)
        assert client.info("memory")["used_memory_peak"] - peak < 30_000_000


def test_module_cannot_be_unloaded_while_it_has_a_type(client):
    with pytest.raises(redis.ResponseError):
        client.execute_command("MODULE", "UNLOAD", "guira")
    assert client.execute_command("CF.ADD", "k", "a") == 1
