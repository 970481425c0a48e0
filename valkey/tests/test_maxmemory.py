"""Under `maxmemory`, no filter is made or grows for which there is no room."""

import pathlib
import resource

import pytest
import redis

from commands import COMMANDS, example
from samples import assert_held, chunks, found, insert, whole
from test_memory import used
from test_persistence import rewrite

OOM = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
FREE = 500_000


@pytest.fixture
def server(start_server):
    """A server of the test's own."""
    return start_server()


def limit(client, free=FREE):
    """Leaves this many bytes under `maxmemory`."""
    client.config_set("maxmemory", used(client) + free)


CREATIONS = {
    "reserve": ("CF.RESERVE", "k", 2_000_000),
    "reserve without growth": ("CF.RESERVE", "k", 2_000_000, "EXPANSION", 0),
    "insert": ("CF.INSERT", "k", "CAPACITY", 2_000_000, "ITEMS", "a"),
    "insertnx": ("CF.INSERTNX", "k", "CAPACITY", 2_000_000, "ITEMS", "a"),
}


@pytest.mark.parametrize("words", CREATIONS.values(), ids=CREATIONS)
def test_a_filter_that_does_not_fit(client, resp2, words):
    limit(client)
    before, peak = used(client), client.info("memory")["used_memory_peak"]
    assert resp2.call(*words) == OOM
    assert resp2.call("EXISTS", "k") == b":0\r\n"
    assert resp2.call("CF.RESERVE", "small", 1000) == b"+OK\r\n"
    memory = client.info("memory")
    assert memory["used_memory"] - before < 150_000  # the buffers of a connection included
    assert memory["used_memory_peak"] - max(peak, before) < 200_000


def test_the_limit_of_a_filter_comes_first(client, resp2):
    client.config_set("guira.max-filter-bytes", FREE)
    limit(client)
    assert b"guira.max-filter-bytes" in resp2.call("CF.RESERVE", "k", "2000000")


ALMOST = 2_100_000
LITTLE = 90_000


def almost_fill(server, key):
    """Creates a filter whose next step takes 128 KiB. Connections take less than the difference
    to `LITTLE`."""
    with server.client() as client:
        client.execute_command("CF.RESERVE", key, ALMOST, "ERROR", "0.00005", "SEED", 7)
        insert(client, key, range(ALMOST))


def state(resp2):
    """The bytes of the filter `k`, and its items."""
    return [resp2.call("CF.INFO", "k", field, decode=True) for field in ("SIZE", "ITEMS")]


def test_growth_that_does_not_fit(server, client, resp2):
    """Items go on to be added until growth is due. Then nothing changes, though there is room."""
    almost_fill(server, "k")
    # The server keeps a histogram of each command that was called once.
    for name in COMMANDS:
        resp2.call(*example(name, "other"))
    resp2.call("SET", "small", "x")
    limit(client, LITTLE)
    number = 0
    while (reply := resp2.call("CF.ADD", "k", f"more {number}")) != OOM:
        assert reply == b":1\r\n"
        number += 1
    assert number < 200
    assert resp2.call("SET", "small", "x") == b"+OK\r\n", "the server itself has memory"
    before = state(resp2)
    for command in ("CF.ADD", "CF.ADDNX", "CF.INSERT ITEMS", "CF.INSERTNX ITEMS"):
        command, *words = command.split()
        assert resp2.call(command, "k", *words, "last") == OOM, command
    assert resp2.call("CF.EXISTS", "k", "0") == b":1\r\n"
    assert resp2.call("CF.ADDNX", "k", "0") == b":0\r\n"
    assert resp2.call("CF.INSERTNX", "k", "ITEMS", "0") == b"*1\r\n:0\r\n"
    assert state(resp2) == before
    # What a removal frees is used again.
    assert resp2.call("CF.DEL", "k", "0") == b":1\r\n"
    assert resp2.call("CF.ADD", "k", "more") == b":1\r\n"
    assert resp2.call("CF.ADD", "k", "last") == OOM
    assert state(resp2) == before
    assert resp2.call("SET", "small", "x") == b"+OK\r\n", "as above"
    client.config_set("maxmemory", 0)
    assert resp2.call("CF.ADD", "k", "last") == b":1\r\n"
    assert state(resp2) > before


def test_some_items_of_a_command_fit(server, client):
    """As in a filter that may not grow, the reply says which items were added."""
    almost_fill(server, "k")
    found(client, "k", [f"more {number}" for number in range(500)])  # its buffers
    limit(client, LITTLE)
    added = []
    while -1 not in added:
        first = len(added)
        items = (f"more {number}" for number in range(first, first + 500))
        reply = client.execute_command("CF.INSERT", "k", "ITEMS", *items)
        added += reply
    assert 1 in reply
    assert client.execute_command("CF.INFO", "k", "ITEMS") == [ALMOST + added.count(1)]


def test_a_loaded_filter_that_does_not_fit(client, resp2):
    client.execute_command("CF.RESERVE", "source", 16_000_000)
    client.execute_command("CF.RESERVE", "small", 1000)
    client.execute_command("CF.RESERVE", "once", 4_000_000)  # 10 MB
    once, pairs = (whole(chunks(client, key)) for key in ("once", "source"))
    [(_, small)] = chunks(client, "small")
    limit(client, 10 << 20)  # a chunk is in memory twice
    assert resp2.call("CF.LOADCHUNK", "k", *pairs[0]) == OOM
    assert resp2.call("EXISTS", "k") == b":0\r\n"
    assert resp2.call("CF.LOAD", "k", small) == b"+OK\r\n"
    # It takes its size once. Then there is no room for another one.
    limit(client, 17 << 20)
    for pair in once:
        assert resp2.call("CF.LOADCHUNK", "new", *pair) == b"+OK\r\n"
    assert resp2.call("CF.LOADCHUNK", "another", *once[0]) == OOM


def test_two_loads_of_which_one_fits(server, client, resp2):
    """Both begin. When the memory is taken, no chunk is accepted, and the load may go on later."""
    client.execute_command("CF.RESERVE", "source", 4_000_000)  # 10 MB
    pairs = whole(chunks(client, "source"))
    limit(client, 17 << 20)
    replies = {"one": [], "two": []}
    for pair in pairs:
        for key, outcomes in replies.items():
            if OOM not in outcomes:
                outcomes.append(resp2.call("CF.LOADCHUNK", key, *pair))
            memory = client.info("memory")
            assert memory["used_memory"] < memory["maxmemory"] + (3 << 20)
    refused = [key for key, outcomes in replies.items() if OOM in outcomes]
    assert refused
    client.config_set("maxmemory", 0)
    for key in refused:
        for pair in pairs[len(replies[key]) - 1 :]:
            assert resp2.call("CF.LOADCHUNK", key, *pair) == b"+OK\r\n"
    assert server.digest("one") == server.digest("two") == server.digest("source")


def test_many_small_steps(client):
    """The memory of a server stays below the limit while filters grow."""
    for key in "abc":
        client.execute_command("CF.RESERVE", key, 20_000)
    limit(client)
    refused = set()
    for first in range(0, 1_000_000, 1000):
        for key in "abc":
            try:
                if -1 in insert(client, key, range(first, first + 1000)):
                    refused.add(key)
            except redis.ResponseError:
                refused.add(key)
        if len(refused) == 3:
            break
    memory = client.info("memory")
    assert refused == {*"abc"} and first > 30_000
    assert memory["used_memory"] < memory["maxmemory"] + 100_000


def test_a_full_filter_goes_on_at_its_limit(client, resp2):
    """As under `maxmemory`: what a removal frees is used again, and a lower limit is one, too."""
    client.config_set("guira.max-filter-bytes", 100_000)
    client.execute_command("CF.RESERVE", "k", 1000)
    replies = insert(client, "k", range(60_000))
    taken = [item for item, reply in enumerate(replies) if reply == 1]
    assert len(taken) > 30_000 and client.memory_usage("k") < 110_000
    assert_held(client, {"k": taken})
    client.config_set("guira.max-filter-bytes", 50_000)
    for item in range(5000):
        assert resp2.call("CF.DEL", "k", item) == b":1\r\n"
    assert insert(client, "k", range(4900)) == [1] * 4900
    assert -1 in insert(client, "k", range(60_000, 60_200))
    assert client.memory_usage("k") < 110_000
    client.config_set("guira.max-filter-bytes", 1 << 20)
    assert insert(client, "k", range(70_000, 80_000)) == [1] * 10_000


def test_a_transaction(client, resp2):
    """The server asks for memory when it queues a command. The filter asks when it is made."""
    limit(client)
    resp2.call("MULTI")
    assert resp2.call("CF.RESERVE", "k", 2_000_000) == b"+QUEUED\r\n"
    resp2.call("CF.RESERVE", "small", 1000)
    assert resp2.call("EXEC") == b"*2\r\n" + OOM + b"+OK\r\n"


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-lru"])
def test_a_server_that_evicts(client, resp2, policy):
    """The server makes room after a write. What exceeds all of its memory is refused."""
    client.config_set("maxmemory-policy", policy)
    limit(client)
    assert resp2.call("CF.RESERVE", "k", 500_000) == b"+OK\r\n"
    resp2.call("DEL", "k")
    assert resp2.call("CF.RESERVE", "k", 100_000_000) == OOM


def test_removals_and_compaction_need_no_room(client):
    client.execute_command("CF.RESERVE", "k", 1000, "SEED", 7)
    insert(client, "k", range(20_000))
    pipeline = client.pipeline(transaction=False)
    for item in range(19_500):
        pipeline.execute_command("CF.DEL", "k", item)
    pipeline.execute()
    client.config_set("maxmemory", 1)
    memory = client.memory_usage("k")
    assert client.execute_command("CF.COMPACT", "k") == b"OK"
    assert client.memory_usage("k") < memory


@pytest.mark.parametrize("name, value", [("maxmemory", "1mb"), ("guira.max-filter-bytes", "4096")])
def test_files_and_replicas_are_not_limited(start_server, name, value):
    """What the server has written, or a primary sends, is never refused."""
    primary = start_server(appendonly="yes", aof_use_rdb_preamble="no")
    replica = start_server(**{name: value})
    replica.replicate(primary)
    with primary.client() as client:
        client.execute_command("CF.RESERVE", "k", 2_000_000)
        client.execute_command("CF.RESERVE", "grows", 100, "SEED", 7)
        insert(client, "grows", range(200_000))
        digests = primary.digest("k", "grows")
        replica.wait_synced(primary)
        assert replica.digest("k", "grows") == digests
        # From now on, the replica needs a full synchronization.
        client.execute_command("DEBUG", "CHANGE-REPL-ID")
    replica.restart()
    replica.replicate(primary)
    assert replica.digest("k", "grows") == digests
    primary.options[name] = value
    primary.restart()
    assert primary.digest("k", "grows") == digests
    with primary.client() as client:
        rewrite(client)
    primary.restart()
    assert primary.digest("k", "grows") == digests


def test_memory_that_the_system_refuses(server, client):
    """The process may take no more: an error, and the server goes on."""
    client.config_set("guira.max-filter-bytes", 1 << 34)
    pages = pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[0]
    taken = int(pages) * resource.getpagesize()
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_AS)
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (taken + (64 << 20), limits[1]))
    try:
        for words in CREATIONS.values():
            words = [1 << 30 if word == 2_000_000 else word for word in words]
            with pytest.raises(redis.ResponseError, match="memory|allocat"):
                client.execute_command(*words)
        assert client.exists("k") == 0
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, limits)
    assert client.execute_command("CF.ADD", "k", "a") == 1
