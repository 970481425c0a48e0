"""What clients achieve by commands in the form in which the module replicates them: no more than by
others. Replicas hold the same bytes, and AOFs load."""

import itertools

import pytest
import redis

from clusters import key_in_slot
from samples import assert_held, chunks, found, half_load, in_parts, insert
from servers import wait_until
from test_replication import assert_same

AOF = {"appendonly": "yes", "aof_use_rdb_preamble": "no"}
LIMIT = "guira.max-filter-bytes"
LARGEST = (1 << 63) - 1
SMALL = (1000, "ERROR", "0.0001", "SEED", 3)
MOST = 40_000  # bytes


@pytest.fixture
def pair(start_server):
    """A primary and a replica that accepts writes, each with an AOF."""
    primary, replica = start_server(**AOF), start_server(**AOF, replica_read_only="no")
    replica.replicate(primary)
    return primary, replica


def assert_lasting(server, keys):
    """The AOF gives the same bytes."""
    rewrites = ("aof_rewrite_in_progress", "aof_rewrite_scheduled")
    wait_until(lambda: not any(server.info("persistence")[name] for name in rewrites))
    digests = server.digest(*keys)
    server.restart()
    assert server.digest(*keys) == digests


def call(client, *words):
    """Returns the reply, or None for an error."""
    try:
        return client.execute_command(*words)
    except redis.ResponseError:
        return None


def fill(client, key):
    """Lets a filter grow up to its limit. Inserts are refused, and some of these split buckets.
    Returns the items that it took."""
    client.config_set(LIMIT, MOST)
    call(client, "CF.RESERVE", key, *SMALL)
    taken = [item for item in range(300) for _ in range(9) if call(client, "CF.ADD", key, item)]
    items = range(1000, 13_000)
    replies = in_parts(client, ("CF.INSERT", key, "ITEMS"), items, 100)
    assert replies[-500:] == [-1] * 500
    return taken + [item for item, reply in zip(items, replies) if reply == 1]


PROGRAM = """
local added = {}
for number = 1, 5000 do
    if redis.pcall('CF.REPLAY', KEYS[1], number, 0, 1, 0, 0) == 1 then
        table.insert(added, number)
    end
end
return added
"""


def test_permits_that_a_client_invents(pair):
    primary, replica = pair
    with primary.client() as client, replica.client() as other:
        assert client.eval(PROGRAM, 1, "k") == [] and client.exists("k") == 0
        client.execute_command("CF.RESERVE", "k", 100)
        items = client.eval(PROGRAM, 1, "k")
        assert len(items) == 5000
        assert_same(primary, replica, ["k"])
        assert_held(other, {"k": items})
    assert_lasting(primary, ["k"])
    assert_lasting(replica, ["k"])


def commands_of(server):
    """Returns the commands of the AOF: the words of each."""
    [path] = server.folder.glob("appendonlydir/*.incr.aof")
    rest, commands = path.read_bytes(), []
    while rest:
        count, rest = rest[1:].split(b"\r\n", 1)
        commands.append([])
        for _ in range(int(count)):
            size, rest = rest[1:].split(b"\r\n", 1)
            commands[-1].append(rest[: int(size)])
            rest = rest[int(size) + 2 :]
    return commands


@pytest.mark.parametrize("lowered", [True, False])
def test_an_aof_that_is_sent_to_another_filter(start_server, pair, lowered):
    source = start_server(**AOF)
    with source.client() as client:
        taken = fill(client, "k")
        for limit in range(MOST, 2 * MOST, 500):  # growth that is near the limit
            client.config_set(LIMIT, limit)
            items = range(limit, limit + 200)
            taken += [item for item, reply in zip(items, insert(client, "k", items)) if reply == 1]
    commands = commands_of(source)
    added = {words[4] for words in commands if words[0].upper() == b"CF.REPLAY"}
    assert added == {b"0", b"1"}
    primary, replica = pair
    with primary.client() as client, primary.wire() as wire, replica.client() as other:
        # So many that growth is due at some replays.
        others = [f"other {number}" for number in range(20_002)]
        client.execute_command("CF.RESERVE", "k", 1000, "SEED", 4)
        insert(client, "k", others)
        client.config_set(LIMIT, MOST if lowered else 1 << 30)
        for words in commands:
            wire.call(*words)
        assert_same(primary, replica, ["k"])
        assert_held(other, {"k": others if lowered else [*others, *taken]})
    assert_lasting(primary, ["k"])
    assert_lasting(replica, ["k"])


def forms(client):
    """Returns calls in every form that is replicated, or that an AOF has, without the key."""
    client.execute_command("CF.RESERVE", "source", *SMALL)
    insert(client, "source", range(30_000, 30_500))
    [(iterator, chunk)] = chunks(client, "source")
    items = range(20_000, 23_000)
    numbers = itertools.product((0, 1), (0, 1, 1), (0, 1, LARGEST), (0, 15_000, LARGEST))
    settings = ("MAXITERATIONS", 20, "EXPANSION", 1, "ERROR", "0.01", "SEED", -3)
    return {
        "replay": [("CF.REPLAY", item, *its) for item, its in zip(items, itertools.cycle(numbers))],
        "reserve": [("CF.RESERVE", 1000, *settings)],
        "insert": [("CF.INSERT", "NOCREATE", "ITEMS", *items)],
        "insertnx": [("CF.INSERTNX", "NOCREATE", "ITEMS", *items)],
        "del": [*(("CF.DEL", item) for item in range(1000, 2500)), *[("CF.COMPACT",)] * 3],
        "load": [("CF.LOAD", chunk)],
        "loadchunk": [("CF.LOADCHUNK", iterator, chunk)],
    }


def states(client):
    """Creates a filter in each state, and returns the keys: `missing` has none."""
    half_load(client, "incomplete")
    client.execute_command("CF.RESERVE", "fixed", 16, "EXPANSION", 0)
    insert(client, "fixed", range(1000))
    client.execute_command("CF.RESERVE", "grows", *SMALL)
    insert(client, "grows", range(2500))
    fill(client, "full")
    client.sadd("set", "a")
    return "missing", "incomplete", "fixed", "grows", "full", "set"


SCRIPT = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"
LIBRARY = """#!lua name=forms
redis.register_function('call', function(KEYS, ARGV) %s end)
""" % SCRIPT


def in_a_script(client, name, key, *words):
    client.eval(SCRIPT, 1, key, name, *words)


def in_a_function(client, name, key, *words):
    client.fcall("call", 1, key, name, *words)


def in_a_transaction(client, *words):
    with client.pipeline(transaction=True) as pipeline:
        pipeline.execute_command(*words)
        pipeline.execute_command(*words)
        pipeline.execute()


def alone(client, *words):
    client.execute_command(*words)


@pytest.mark.parametrize("way", [alone, in_a_script, in_a_function, in_a_transaction])
def test_every_form_for_a_filter_in_every_state(pair, way):
    primary, replica = pair
    with primary.client() as client:
        client.function_load(LIBRARY)
        for state, (form, calls) in itertools.product(states(client), forms(client).items()):
            # An incomplete filter cannot be copied: it gets all forms, one after the other.
            key = "incomplete" if state == "incomplete" else f"{state} {form}"
            if key != state:
                client.copy(state, key)
            for name, *words in calls:
                try:
                    way(client, name, key, *words)
                except redis.ResponseError:
                    pass
        assert client.exists("missing replay", "missing insert", "missing insertnx") == 0
        assert client.scard("set replay") == 1
        for key in ("grows replay", "full replay"):
            assert client.memory_usage(key) < MOST + 2000
        keys = [key.decode() for key in client.keys()]
    assert_same(primary, replica, keys)
    assert_lasting(primary, keys)
    assert_lasting(replica, keys)


@pytest.mark.parametrize("form", ["replay", "reserve", "insert", "insertnx", "load", "loadchunk"])
def test_a_replica_that_clients_have_changed(pair, form):
    """It holds the items of its primary, if its filter has room for them, and its AOF loads."""
    primary, replica = pair
    with primary.client() as client, replica.client() as other:
        calls = forms(other)[form]
        for _ in range(2):
            for name, *words in calls:
                call(other, name, "k", *words)
            call(client, "CF.RESERVE", "k", *SMALL)
            replica.wait_synced(primary)
        taken = fill(client, "k")
        replica.wait_synced(primary)
        assert replica.digest("k") != primary.digest("k")
        if form == "reserve":
            # A filter of another layout has no room for some of the copies, and says so.
            lost = found(other, "k", taken).count(0)
            assert lost == 0 or "This replica is sending an error" in replica.log()
            assert lost < len(taken) // 20
        else:
            assert_held(other, {"k": taken})
    assert_lasting(replica, ["k"])


def test_a_replica_that_refuses_items_says_so(pair):
    primary, replica = pair
    with primary.client() as client, replica.client() as other:
        client.execute_command("CF.RESERVE", "k", 16, "EXPANSION", 0)
        replica.wait_synced(primary)
        insert(other, "k", range(100, 1000))
        assert insert(client, "k", range(10)) == [1] * 10
        replica.wait_synced(primary)
    assert "This replica is sending an error" in replica.log()
    assert_lasting(replica, ["k"])


def test_refused_inserts_while_slots_migrate(kind, start_cluster):
    """A primary with a lower limit does what its replica does with the same commands."""
    if kind != "valkey":
        pytest.skip("CLUSTER MIGRATESLOTS is Valkey's")
    cluster = start_cluster(2, 2)
    source, target = cluster.servers[:2]
    key, large = key_in_slot(1000), key_in_slot(1000, "large")
    with source.client() as client, target.client() as other:
        other.config_set(LIMIT, 4096)
        client.execute_command("CF.RESERVE", large, 1 << 24)  # it takes some time
        taken, limit = fill(client, key), MOST
        words = "SLOTSRANGE", 1000, 1000, "NODE", cluster.id(target)
        cluster.call(source, "MIGRATESLOTS", *words)
        for item in itertools.count(10_000):
            try:
                client.execute_command("CF.ADD", key, item)
                taken.append(item)
            except redis.exceptions.MovedError:
                break
            except redis.ResponseError:
                limit += 300
                client.config_set(LIMIT, limit)
        assert other.info("commandstats")["cmdstat_cf.replay"]["failed_calls"] == 0
        [replica] = cluster.replicas_of(target)
        replica.wait_synced(target)
        assert replica.digest(key, large) == target.digest(key, large)
        assert_held(other, {key: taken})
