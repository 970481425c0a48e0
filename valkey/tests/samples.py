"""Filters of every shape, and loads that remember what the server acknowledged."""

import contextlib
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import redis

from servers import wait_until

# Replies of a server that is not, or not yet, the one to ask.
ELSEWHERE = (
    redis.exceptions.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
    redis.exceptions.AskError,
)


def each_chunk(client, key):
    """Yields what CF.SCANDUMP gives for `key`: pairs of an iterator and its data."""
    iterator = 0
    while True:
        iterator, data = client.execute_command("CF.SCANDUMP", key, iterator)
        if iterator == 0:
            return
        yield iterator, data


def chunks(client, key):
    return list(each_chunk(client, key))


def whole(pairs):
    """Returns the chunks that hold data: those that come while a dump is prepared are empty."""
    return [pair for pair in pairs if len(pair[1]) > 100]


def load_chunks(client, key, pairs):
    for iterator, data in pairs:
        assert client.execute_command("CF.LOADCHUNK", key, iterator, data) in (b"OK", True)


def in_parts(client, words, items, size=10_000):
    """Sends these words with many items, in several commands, and returns the reply for each."""
    parts = (items[start : start + size] for start in range(0, len(items), size))
    return [reply for part in parts for reply in client.execute_command(*words, *part)]


def insert(client, key, items):
    return in_parts(client, ("CF.INSERT", key, "ITEMS"), items)


def found(client, key, items):
    return in_parts(client, ("CF.MEXISTS", key), items)


def info(client, key):
    fields = client.execute_command("CF.INFO", key)
    return fields if isinstance(fields, dict) else dict(zip(fields[::2], fields[1::2]))


def settings(client, key):
    """All that CF.INFO says but the memory, which an allocator may round in another way."""
    return {name: value for name, value in info(client, key).items() if name != b"Size"}


def metrics(client):
    """The module's metrics: how many filters there are, and their bytes."""
    info = client.info("everything")
    return info["guira_filters"], info["guira_filter_bytes"]


@contextlib.contextmanager
def configured(client, **settings):
    """Changes settings of the server, and sets them back."""
    initial = {name: client.config_get(name)[name] for name in settings}
    try:
        for name, value in settings.items():
            client.config_set(name, value)
        yield
    finally:
        for name, value in initial.items():
            client.config_set(name, value)


def populate(client, prefix="sample"):
    """Creates filters of every shape and returns their keys with the items that each must hold."""

    held = {}

    def fill(name, items, *options):
        """Returns the key of a new filter, and the items that it took."""
        key = f"{prefix}:{name}"
        if options:
            client.execute_command("CF.RESERVE", key, *options)
        replies = insert(client, key, items)
        held[key] = [item for item, reply in zip(items, replies) if reply == 1]
        return key, held[key]

    fill("empty", [], 1000)
    fill("defaults", ["a"])
    fill("rate", [f"rate {number}" for number in range(5000)], 5000, "ERROR", "0.0001")
    grown = range(6000)
    key, _ = fill("grown", grown, 64, "EXPANSION", 2, "BUCKETSIZE", 4)
    for item in grown[:1000]:
        assert client.execute_command("CF.DEL", key, item) == 1
    held[key] = list(grown[1000:])
    _, taken = fill("full", range(500), 64, "EXPANSION", 0, "MAXITERATIONS", 100)
    assert 64 <= len(taken) < 500
    fill("copies", ["twice", "twice", "thrice", "thrice", "thrice"])
    key, _ = fill("expires", ["a"])
    client.pexpire(key, 100_000_000)
    assert sum(map(len, held.values())) == 10_007 + len(taken)
    return held


def half_load(client, key, capacity=4_000_000):
    """Loads all but the last chunk of a filter into `key`, and returns the missing one.

    The filter itself stays under the key `{key}:source`. It takes several chunks.
    """
    source = f"{key}:source"
    client.execute_command("CF.RESERVE", source, capacity)
    client.execute_command("CF.INSERT", source, "ITEMS", *range(1000))
    pairs = chunks(client, source)
    assert len(whole(pairs)) >= 2, "the filter fits into one chunk"
    load_chunks(client, key, pairs[:-1])
    return pairs[-1]


def assert_held(client, held):
    for key, items in held.items():
        assert found(client, key, items) == [1] * len(items), key


class Load:
    """Two threads that add and remove items while this is entered, and remember which changes were
    acknowledged."""

    def __init__(self, connect, keys, wait=0):
        self.connect, self.keys, self.wait = connect, keys, wait
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.held = {key: set() for key in keys}
        self.unsure = {key: set() for key in keys}
        self.changes = 0

    def __enter__(self):
        self.pool = ThreadPoolExecutor(2)
        self.threads = [self.pool.submit(self._run, number) for number in range(2)]
        return self

    def __exit__(self, kind, *_):
        self.stopping.set()
        self.pool.shutdown()
        if kind is None:
            for thread in self.threads:
                thread.result()  # or its error

    def progress(self, more):
        """Waits until so many more changes were acknowledged, or a thread has failed."""
        target = self.changes + more
        ended = lambda: any(thread.done() for thread in self.threads)  # noqa: E731
        wait_until(lambda: ended() or self.changes >= target, 30, what="progress of the load")

    def _run(self, number):
        client, rng, count = self.connect(), random.Random(number), 0
        mine = {key: [] for key in self.keys}
        while not self.stopping.is_set():
            key = rng.choice(self.keys)
            if mine[key] and rng.random() < 0.2:
                self._remove(client, key, mine[key].pop(rng.randrange(len(mine[key]))))
            else:
                items = [f"{number}:{count + step}" for step in range(rng.randrange(1, 9))]
                count += len(items)
                if self._add(client, key, items):
                    mine[key] += items

    def _call(self, client, key, *words):
        """Returns the reply, or None if nobody knows whether the command took effect."""
        try:
            reply = client.execute_command(*words)
            if self.wait and not self._replicated(client, key):
                return None
            return reply
        except redis.RedisError as error:
            if isinstance(error, redis.ResponseError) and not isinstance(error, ELSEWHERE):
                raise
            time.sleep(0.01)
            return None

    def _replicated(self, client, key):
        is_cluster = isinstance(client, redis.RedisCluster)
        target = {"target_nodes": client.get_node_from_key(key)} if is_cluster else {}
        return client.execute_command("WAIT", self.wait, 1000, **target) >= self.wait

    def _add(self, client, key, items):
        with self.lock:
            self.unsure[key].update(items)
        reply = self._call(client, key, "CF.INSERT", key, "ITEMS", *items)
        if reply is None:
            return False
        assert reply == [1] * len(items), reply
        with self.lock:
            self.unsure[key].difference_update(items)
            self.held[key].update(items)
            self.changes += 1
        return True

    def _remove(self, client, key, item):
        with self.lock:
            self.held[key].remove(item)
            self.unsure[key].add(item)
        reply = self._call(client, key, "CF.DEL", key, item)
        if reply is not None:
            assert reply == 1, reply
            with self.lock:
                self.unsure[key].discard(item)
                self.changes += 1

    def assert_kept(self, client):
        """Every acknowledged item is there, and no filter holds more than it can."""
        assert_held(client, {key: list(items) for key, items in self.held.items()})
        for key, held in self.held.items():
            if held:
                now = info(client, key)[b"Number of items inserted"]
                assert len(held) <= now <= len(held) + len(self.unsure[key]), key
