"""Memory: what is reported, what a key may take, and that nothing leaks."""

import pytest

from commands import COMMANDS, example
from samples import chunks, configured, half_load, insert, load_chunks, metrics, populate
from servers import wait_until


def used(client):
    """Bytes in use, once the server has freed what it frees in the background.

    Of a client that reconnects, once the server has closed its earlier connections, too.
    """
    client.execute_command("CLIENT", "NO-EVICT", "off")
    # The server keeps a histogram of each command that was called once.
    client.info("memory", "clients")

    def settled():
        info = client.info("memory", "clients")
        is_alone = not isinstance(client, Reconnecting) or info["connected_clients"] == 1
        return info if info["lazyfree_pending_objects"] == 0 and is_alone else None

    return wait_until(settled)["used_memory"]


@pytest.fixture
def client(server):
    """Each command comes by a connection of its own, which leaves no buffers behind."""
    with server.client() as client:
        # The server keeps a histogram of each command that was called once.
        pipeline = client.pipeline(transaction=False)
        for name in COMMANDS:
            pipeline.execute_command(*example(name))
        pipeline.execute(raise_on_error=False)
        client.flushall()
    return Reconnecting(server)


class Reconnecting:
    def __init__(self, server):
        self.server = server

    def __getattr__(self, name):
        def call(*words, **options):
            with self.server.client() as client:
                return getattr(client, name)(*words, **options)

        return call


@pytest.mark.parametrize("capacity", [1 << 12, 1 << 16, 1 << 20, 1 << 23])
def test_reported_memory_is_used_memory(client, capacity):
    client.execute_command("CF.ADD", "warm up", "a")
    before = used(client)
    client.execute_command("CF.RESERVE", "k", capacity)
    taken = used(client) - before
    reported = client.memory_usage("k")
    slack = 300  # the main dictionary and the buffers of the connection
    assert abs(taken - reported) <= 0.02 * taken + slack, (taken, reported)


def test_reported_memory_of_many_small_keys(client):
    client.config_set("hz", "100")
    before = used(client)
    count = 8192  # the main dictionary has exactly as many buckets
    pipeline = client.pipeline(transaction=False)
    for number in range(count):
        pipeline.execute_command("CF.RESERVE", f"k{number:05}", 1024)
    pipeline.execute()
    del pipeline
    taken = used(client) - before
    reported = sum(client.memory_usage(f"k{number:05}") for number in range(0, count, 64)) * 64
    assert abs(taken - reported) <= 0.02 * taken, (taken, reported)


def test_reported_memory_of_a_grown_filter(client):
    before = used(client)
    client.execute_command("CF.RESERVE", "k", 1024, "EXPANSION", 2)
    insert(client, "k", range(500_000))
    reported = client.memory_usage("k")
    taken = used(client) - before
    assert abs(taken - reported) <= 0.02 * taken + 1000, (taken, reported)


@pytest.mark.parametrize("lazy", ["yes", "no"])
def test_large_filters_are_freed(client, lazy):
    """A thread frees them, of the server's or of the module's."""
    before, filters = used(client), metrics(client)[0]
    client.execute_command("CF.RESERVE", "k", 120_000_000)
    assert used(client) - before > 1 << 28
    with configured(client, **{"lazyfree-lazy-user-del": lazy}):
        client.delete("k")
    wait_until(lambda: metrics(client)[0] == filters and used(client) - before < 1 << 20)


@pytest.mark.parametrize("expansion, million, small", [(0, 1.6, 4600), (1, 2.7, 7800)])
def test_bytes_per_reserved_item(client, expansion, million, small):
    client.execute_command("CF.RESERVE", "million", 1_000_000, "EXPANSION", expansion)
    assert client.memory_usage("million") <= million * 1_000_000
    client.execute_command("CF.RESERVE", "small", 1024, "EXPANSION", expansion)
    assert client.memory_usage("small") <= small
    assert -1 not in insert(client, "million", range(1_000_000))
    assert client.memory_usage("million") <= million * 1_000_000


def test_growth_in_small_steps(client):
    """A step is a 64th of the memory, and the bytes per item stay the same."""
    client.execute_command("CF.RESERVE", "k", 20_000, "SEED", 7)
    before, steps = client.memory_usage("k"), 0
    for first in range(0, 200_000, 500):
        insert(client, "k", range(first, first + 500))
        memory = client.memory_usage("k")
        assert memory - before <= before / 32 + 2048, first
        steps += memory > before
        before = memory
        if first >= 20_000:
            # 2.5 at the load at which it grows. All of it is the server's.
            assert 2.3 * first <= memory <= 2.6 * (first + 500) + 8000
    assert steps > 64


def test_nothing_leaks(server, client):
    def everything():
        with server.client() as one:
            held = populate(one)
            for key in held:
                load_chunks(one, "copy:" + key, chunks(one, key))
                one.restore("restored:" + key, 0, one.dump(key))
                one.copy(key, "copied:" + key)
            half_load(one, "half")
            one.execute_command("FLUSHALL", "SYNC")

    for _ in range(2):
        everything()
    before = used(client)
    for _ in range(5):
        everything()
    assert used(client) - before < 50_000
