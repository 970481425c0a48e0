"""A cluster of three primaries and three replicas: slots move under load, a primary dies."""

import random
import time

import pytest

from clusters import key_in_slot, slot_of
from samples import Load, assert_held, half_load, load_chunks, populate

SLOTS = [1000, 1001, 1002, 6000, 6001, 12000]


def keys_in(slots, per_slot=2):
    return [key_in_slot(slot, f"key{n}") for slot in slots for n in range(per_slot)]


def add_large(cluster, capacity):
    """Returns the key of a filter of the first server, which its replica has as well."""
    key = key_in_slot(1000, "large")
    with cluster.servers[0].client() as client:
        client.execute_command("CF.RESERVE", key, capacity)
        client.execute_command("CF.INSERT", key, "ITEMS", *range(50_000))
        assert client.execute_command("WAIT", 1, 20_000) == 1
    return key


def assert_kept(cluster, load, keys, held=None):
    """No change was lost, and each key has the same digest at its primary and at its replicas."""
    client = cluster.client()
    load.assert_kept(client)
    assert_held(client, held or {})
    for key in [*keys, *(held or ())]:
        slot = slot_of(key)
        owner = cluster.owner(slot)
        replicas = cluster.replicas_of(owner)
        assert replicas, "the owner has no replica"
        for replica in replicas:
            replica.wait_synced(owner)
            with replica.client() as client:
                client.execute_command("READONLY")
            assert replica.digest(key) == owner.digest(key), key


def test_resharding_key_by_key_under_load(start_cluster):
    cluster = start_cluster()
    keys = keys_in(SLOTS)
    rng = random.Random(1)
    with Load(cluster.client, keys) as load:
        load.progress(300)
        for _ in range(2):
            for slot in SLOTS:
                source = cluster.owner(slot)
                targets = [s for s in cluster.servers[:3] if s is not source]
                cluster.migrate_key_by_key(slot, rng.choice(targets))
        load.progress(100)
    assert_kept(cluster, load, keys)


def test_atomic_slot_migration_under_load(kind, start_cluster):
    if kind != "valkey":
        pytest.skip("CLUSTER MIGRATESLOTS is Valkey's")
    cluster = start_cluster()
    keys = keys_in(SLOTS)
    large = add_large(cluster, 1 << 22)
    with Load(cluster.client, keys) as load:
        load.progress(300)
        first, second = cluster.servers[0], cluster.servers[1]
        digest = first.digest(large)
        cluster.migrate_slots(1000, 1002, second)
        assert second.digest(large) == digest
        load.progress(100)
        cluster.migrate_slots(1000, 1002, first)
        assert first.digest(large) == digest
        load.progress(100)
        cluster.migrate_slots(6000, 6001, cluster.servers[2])
        cluster.migrate_slots(12000, 12000, first)
        load.progress(100)
    assert_kept(cluster, load, keys, {large: list(range(50_000))})


def test_a_primary_is_killed_under_load(start_cluster):
    cluster = start_cluster()
    keys = keys_in(SLOTS, 1)
    victim = cluster.servers[0]
    with Load(cluster.client, keys, wait=1) as load:
        load.progress(200)
        cluster.fail_over(victim, serve_alone=True)
        load.progress(50)
    assert_kept(cluster, load, keys)


@pytest.mark.parametrize("victim", ["source", "target"])
def test_a_primary_is_killed_while_slots_migrate(kind, start_cluster, victim):
    """The migration is given up or finished. In both cases a replica serves every item."""
    if kind != "valkey":
        pytest.skip("CLUSTER MIGRATESLOTS is Valkey's")
    cluster = start_cluster()
    keys = keys_in([1000, 1001], 1)
    source, target = cluster.servers[0], cluster.servers[1]
    large = add_large(cluster, 1 << 24)
    with Load(cluster.client, keys, wait=1) as load:
        load.progress(100)
        cluster.call(source, "MIGRATESLOTS", "SLOTSRANGE", 1000, 1001, "NODE", cluster.id(target))
        time.sleep(random.uniform(0, 0.15))
        killed = source if victim == "source" else target
        cluster.fail_over(killed)
        load.progress(50)
    assert_kept(cluster, load, keys, {large: list(range(50_000))})


def test_every_shape_of_filter_moves(start_cluster):
    cluster = start_cluster(primaries=2, replicas=0)
    tag = key_in_slot(3000, "tag")
    with cluster.servers[0].client() as client:
        held = populate(client, "{" + tag + "}")
        half = "{" + tag + "}half"
        missing = half_load(client, half)
    keys = [*held, half, half + ":source"]
    digests = cluster.servers[0].digest(*keys)
    slot = slot_of(half)
    assert cluster.migrate_key_by_key(slot, cluster.servers[1]) == len(keys)
    assert cluster.servers[1].digest(*keys) == digests
    last = cluster.servers[1]
    if cluster.servers[0].kind == "valkey":
        last = cluster.servers[0]
        cluster.migrate_slots(slot, slot, last)
        assert last.digest(*keys) == digests
    with last.client() as client:
        assert_held(client, held)
        load_chunks(client, half, [missing])
    assert last.digest(half) == last.digest(half + ":source")
