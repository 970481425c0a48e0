"""Replicas hold the same bytes, only changes reach them, and a replica can take over."""

import itertools
import random

import pytest
import redis

from samples import Load, assert_held, chunks, half_load, insert, load_chunks, populate
from servers import wait_until

SYNCS = {
    "diskless": {"repl_diskless_sync": "yes", "repl_diskless_load": "swapdb"},
    "disk": {"repl_diskless_sync": "no", "repl_diskless_load": "disabled"},
}


@pytest.fixture
def pair(start_server):
    primary, replica = start_server(), start_server()
    replica.replicate(primary)
    return primary, replica


def assert_same(primary, replica, keys):
    replica.wait_synced(primary)
    assert replica.digest(*keys) == primary.digest(*keys)
    with primary.client() as one, replica.client() as two:
        for key in keys:
            assert one.dump(key)[:-10] == two.dump(key)[:-10], key
            assert one.pexpiretime(key) == two.pexpiretime(key)


def test_commands_give_replicas_the_same_bytes(pair):
    primary, replica = pair
    with primary.client() as client:
        held = populate(client)
        half_load(client, "half")
        client.copy("sample:rate", "copied")
        client.rename("sample:copies", "renamed")
        held["renamed"] = held.pop("sample:copies")
        client.execute_command("CF.COMPACT", "sample:grown")
        client.execute_command("CF.INSERTNX", "sample:rate", "ITEMS", *range(300))
        client.execute_command("CF.ADDNX", "fresh", "a")
        client.eval("return redis.call('CF.ADD', KEYS[1], 'b')", 1, "script")
    assert_same(primary, replica, [*held, "half", "copied", "fresh", "script"])
    with replica.client() as client:
        assert_held(client, held)


@pytest.mark.parametrize("sync", SYNCS)
def test_full_sync(start_server, sync):
    primary, replica = start_server(**SYNCS[sync]), start_server(**SYNCS[sync])
    with primary.client() as client:
        held = populate(client)
        missing = half_load(client, "half")
    replica.replicate(primary)
    assert_same(primary, replica, [*held, "half"])
    with primary.client() as client:
        load_chunks(client, "half", [missing])
    assert_same(primary, replica, [*held, "half"])
    assert replica.digest("half") == replica.digest("half:source")


def test_refused_chunks_do_not_divide_replicas(pair):
    """What a primary refuses does not change it, and so it needs no replication."""
    primary, replica = pair
    with primary.client() as client:
        for key, first in (("k", 0), ("other", 5000)):
            client.execute_command("CF.RESERVE", key, 1 << 23, "EXPANSION", 0)
            client.execute_command("CF.INSERT", key, "ITEMS", *range(first, first + 1000))
        pairs, others = chunks(client, "k"), chunks(client, "other")
        load_chunks(client, "mixed", pairs[:-1])
        with primary.wire() as wire:
            for iterator, data in [*others, *pairs[:1], *reversed(pairs)]:
                wire.call("CF.LOADCHUNK", "mixed", iterator, data)
                assert_same(primary, replica, ["mixed"])


def test_the_stream_carries_only_items_that_were_added(pair):
    """A command with one new item among many replicates less than the whole of it."""
    primary, replica = pair
    with primary.client() as client:
        client.config_set("repl-ping-replica-period", "3600")
        items = [f"item {number}" * 10 for number in range(1000)]
        client.execute_command("CF.INSERT", "k", "CAPACITY", 10000, "SEED", 7, "ITEMS", *items)
        replica.wait_synced(primary)
        before = client.info("replication")["master_repl_offset"]
        client.execute_command("CF.INSERTNX", "k", "ITEMS", *items, "new")
        sent = client.info("replication")["master_repl_offset"] - before
        assert 0 < sent < 1000
    assert_same(primary, replica, ["k"])


def test_random_commands_give_the_same_bytes(pair):
    primary, replica = pair
    rng = random.Random(7)
    keys = [f"k{number}" for number in range(5)]
    with primary.client() as client, primary.wire() as wire:
        client.execute_command("CF.RESERVE", "k0", 20, "EXPANSION", 2)
        client.execute_command("CF.RESERVE", "k1", 200, "EXPANSION", 0)
        for _ in range(3000):
            key, item = rng.choice(keys), rng.randrange(800)
            choice = rng.randrange(7)
            if choice == 0:
                wire.call("CF.ADD", key, item)
            elif choice == 1:
                wire.call("CF.ADDNX", key, item)
            elif choice == 2:
                wire.call("CF.INSERT", key, "ITEMS", *(rng.randrange(800) for _ in range(9)))
            elif choice == 3:
                wire.call("CF.INSERTNX", key, "ITEMS", *(rng.randrange(800) for _ in range(9)))
            elif choice == 4 and client.execute_command("CF.EXISTS", key, item):
                wire.call("CF.DEL", key, item)
            elif choice == 5 and rng.random() < 0.05:
                wire.call("CF.COMPACT", key)
            elif choice == 6 and rng.random() < 0.02:
                client.delete(key)
        keys = [key for key in keys if client.exists(key)]
    assert_same(primary, replica, keys)


@pytest.mark.parametrize("rate", ["0.2", "0.01", "0.0001"])
def test_growth_at_the_limits_gives_the_same_bytes(pair, rate):
    """A primary that may take no more memory refuses items. A replica has no limits."""
    primary, replica = pair
    rng = random.Random(7)
    with primary.client() as client, replica.client() as other:
        client.config_set("guira.max-filter-bytes", 140_000)
        client.execute_command("CF.RESERVE", "k", 100, "ERROR", rate)
        held = []
        for number in range(40):
            items = range(2000 * number, 2000 * (number + 1))
            replies = insert(client, "k", items)
            held += [item for item, reply in zip(items, replies) if reply == 1]
            if number % 8 == 5:
                assert_same(primary, replica, ["k"])
                other.execute_command("DEBUG", "RELOAD")
            if number % 4 == 3:
                rng.shuffle(held)
                for item in held[-500:]:
                    assert client.execute_command("CF.DEL", "k", item) == 1
                del held[-500:]
            if number % 16 == 15:
                client.execute_command("CF.COMPACT", "k")
        assert -1 in replies and client.memory_usage("k") < 155_000
    assert_same(primary, replica, ["k"])
    with replica.client() as client:
        assert_held(client, {"k": held})


def test_refused_inserts_split_the_same_buckets(start_server):
    """Copies of few items fill buckets. An insert that is refused there may have split others."""
    primary, replica = start_server(appendonly="yes", aof_use_rdb_preamble="no"), start_server()
    replica.replicate(primary)
    shapes = {"few": (1000, "0.0001", 300, 4), "many": (1, "0.01", 400, 9)}
    held, refused = {}, 0
    with primary.client() as client, primary.wire() as wire:
        for (name, (capacity, rate, items, copies)), batch in itertools.product(
            shapes.items(), [False, True]
        ):
            key = f"{name}:{batch}"
            client.execute_command("CF.RESERVE", key, capacity, "ERROR", rate, "SEED", 3)
            held[key] = []
            for number, item in enumerate(range(items)):
                if batch:
                    words = [item] * copies + [item + items]
                    replies = insert(client, key, words)
                else:
                    words = [item] * copies
                    command = "CF.ADDNX" if number % 8 == 7 else "CF.ADD"
                    replies = [wire.call(command, key, item) for item in words]
                    replies = [-1 if reply[:1] == b"-" else int(reply[1:]) for reply in replies]
                refused += replies.count(-1)
                held[key] += [it for it, reply in zip(words, replies) if reply == 1]
    assert refused > 100
    assert_same(primary, replica, [*held])
    with replica.client() as client:
        assert_held(client, held)
    digest = primary.digest(*held)
    primary.restart()
    assert primary.digest(*held) == digest


def test_a_compaction_in_steps_gives_the_same_bytes(start_server):
    """Between two steps the filter is used, and the replica saves and loads it."""
    primary, replica = start_server(appendonly="yes", aof_use_rdb_preamble="no"), start_server()
    replica.replicate(primary)
    with primary.client() as client, replica.client() as other:
        client.execute_command("CF.RESERVE", "k", 1000)
        insert(client, "k", range(200_000))
        pipeline = client.pipeline(transaction=False)
        for item in range(150_000):
            pipeline.execute_command("CF.DEL", "k", item)
        pipeline.execute()
        sizes = [client.memory_usage("k")]
        held = list(range(150_000, 200_000))
        while client.execute_command("CF.COMPACT", "k") != b"OK":
            sizes.append(client.memory_usage("k"))
            held.append(f"step {len(sizes)}")
            client.execute_command("CF.ADD", "k", held[-1])
            assert_same(primary, replica, ["k"])
            other.execute_command("DEBUG", "RELOAD")
        assert len(sizes) > 1 and sizes == sorted(sizes, reverse=True)
        assert client.memory_usage("k") < 3 * len(held)
        assert_held(client, {"k": held})
    assert_same(primary, replica, ["k"])
    digest = primary.digest("k")
    primary.restart()
    assert primary.digest("k") == digest


def test_a_replica_takes_over_and_the_old_primary_follows(start_server):
    primary = start_server(appendonly="yes")
    replica = start_server()
    replica.replicate(primary)
    with primary.client() as client:
        held = populate(client)
    with Load(primary.client, ["load:0", "load:1"], wait=1) as load:
        load.progress(100)
        primary.kill()
    with replica.client() as client:
        client.execute_command("REPLICAOF", "NO", "ONE")
        load.assert_kept(client)
        assert_held(client, held)
        client.execute_command("CF.ADD", "sample:defaults", "new")
        client.execute_command("CF.ADD", "grown later", "new")
    primary.start()
    primary.replicate(replica)
    assert_same(replica, primary, [*held, "load:0", "load:1", "grown later"])


def test_a_full_sync_under_load(start_server):
    primary, replica = start_server(), start_server()
    with primary.client() as client:
        held = populate(client)
    keys = ["load:0", "load:1", "load:2"]
    with Load(primary.client, keys) as load:
        load.progress(100)
        with replica.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        load.progress(500)
    assert_same(primary, replica, [*held, *keys])
    with replica.client() as client:
        load.assert_kept(client)


def test_lost_connections_under_load(pair):
    """The replica comes back by itself, mostly by a partial sync."""
    primary, replica = pair
    keys = ["load:0", "load:1"]
    with Load(primary.client, keys) as load:
        for _ in range(5):
            load.progress(100)
            with primary.client() as client:
                client.execute_command("CLIENT", "KILL", "TYPE", "replica")
        load.progress(100)
    assert_same(primary, replica, keys)


def test_coordinated_failover_under_load(pair):
    """FAILOVER loses nothing: the old primary hands over when the replica has everything."""
    primary, replica = pair
    with Load(lambda: Follower([primary, replica]), ["load:0", "load:1"]) as load:
        for old, new in ((primary, replica), (replica, primary)):
            load.progress(100)
            wait_until(lambda: is_online(old), what="the replica to be online")
            with old.client() as client:
                client.execute_command("FAILOVER", "TO", "127.0.0.1", str(new.port))
            wait_until(lambda: new.role() == "master", what="the new primary")
            wait_until(lambda: old.role() == "slave", what="the old primary")
        load.progress(100)
    assert_same(primary, replica, ["load:0", "load:1"])
    with primary.client() as client:
        load.assert_kept(client)


def is_online(primary):
    """Returns whether the only replica of a server has completed its last synchronization."""
    return primary.info("replication").get("slave0", {}).get("state") == "online"


class Follower:
    """A client of whichever server is the primary."""

    def __init__(self, servers):
        self.clients = [server.client() for server in servers]
        self.current = 0

    def execute_command(self, *words):
        try:
            return self.clients[self.current].execute_command(*words)
        except redis.exceptions.ReadOnlyError:
            self.current = 1 - self.current
            raise
