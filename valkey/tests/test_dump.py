"""CF.SCANDUMP and CF.LOADCHUNK: a filter leaves a server in chunks and comes back equal."""

from itertools import zip_longest

import pytest
import redis

from commands import COMMANDS, example
from samples import chunks, each_chunk, half_load, load_chunks, whole

MEBIBYTE = 1 << 20


def test_the_end_of_a_dump(wire):
    wire.call("CF.ADD", "k", "a")
    iterator = b"0"
    for _ in range(100):
        reply = wire.call("CF.SCANDUMP", "k", iterator)
        assert reply.startswith(b"*2\r\n:")
        iterator, rest = reply[5:].split(b"\r\n", 1)
        if iterator == b"0":
            break
        assert rest.startswith(b"$")
    assert iterator == b"0"
    assert rest in (b"$0\r\n\r\n", b"$-1\r\n", b"_\r\n")


def test_a_half_loaded_filter_serves_nothing(server, client, resp2):
    """Until the last chunk is there, no command may answer from what has arrived."""
    missing = half_load(client, "half")
    assert client.exists("half") == 1
    for name in COMMANDS:
        reply = resp2.call(*example(name, "half"))
        assert reply.startswith(b"-ERR"), (name, reply)
    load_chunks(client, "half", [missing])
    assert server.digest("half") == server.digest("half:source")
    assert client.execute_command("CF.MEXISTS", "half", *range(1000)) == [1] * 1000


def test_a_load_can_begin_again(server, client):
    half_load(client, "half")
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(2000))
    load_chunks(client, "half", chunks(client, "k"))
    assert server.digest("half") == server.digest("k")
    client.delete("half:source")
    half_load(client, "half")
    with pytest.raises(redis.ResponseError):
        client.execute_command("CF.EXISTS", "half", 1)
    assert client.delete("half") == 1


def test_chunks_of_a_large_filter_are_small(client):
    client.execute_command("CF.RESERVE", "k", 1 << 24)
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(10_000))
    pairs = chunks(client, "k")
    size = sum(len(data) for _, data in pairs)
    assert size > 10 * MEBIBYTE
    assert len(pairs) > 2
    assert max(len(data) for _, data in pairs) <= 16 * MEBIBYTE
    load_chunks(client, "copy", pairs)
    assert client.execute_command("CF.MEXISTS", "copy", *range(10_000)) == [1] * 10_000


def test_a_change_ends_a_dump(client):
    """The chunks of two states are never put together: the dump has to begin again."""
    client.execute_command("CF.RESERVE", "k", 4_000_000)
    client.execute_command("CF.ADD", "k", "a")
    iterator, _ = client.execute_command("CF.SCANDUMP", "k", 0)
    client.execute_command("CF.ADDNX", "k", "a")
    client.execute_command("CF.SCANDUMP", "k", iterator)
    for words in (("CF.ADD", "k", "b"), ("CF.DEL", "k", "b")):
        client.execute_command(*words)
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.SCANDUMP", "k", iterator)
        iterator, _ = client.execute_command("CF.SCANDUMP", "k", 0)
    load_chunks(client, "copy", chunks(client, "k"))
    assert client.execute_command("CF.MEXISTS", "copy", "a", "b") == [1, 0]


def test_dumps_by_two_clients(server, client):
    client.execute_command("CF.RESERVE", "k", 1 << 23)
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(1000))
    alone = whole(chunks(client, "k"))
    with server.client() as other:
        # The first client prepares parts of the dump, and so does the second one.
        turns = zip_longest(each_chunk(client, "k"), each_chunk(other, "k"), fillvalue=(0, b""))
        first, second = map(whole, zip(*turns))
    assert first == second == alone


def test_iterators_survive_clients_with_doubles(client):
    """Lua and JavaScript hold integers as doubles, which are exact up to 2^53."""
    client.execute_command("CF.RESERVE", "k", 1 << 24)
    client.execute_command("CF.ADD", "k", "a")
    assert all(iterator < 1 << 53 for iterator, _ in chunks(client, "k"))
    script = """
        local iterator, count = 0, 0
        repeat
            local reply = redis.call('CF.SCANDUMP', KEYS[1], string.format('%.0f', iterator))
            iterator = reply[1]
            if iterator ~= 0 then
                redis.call('CF.LOADCHUNK', KEYS[2], string.format('%.0f', iterator), reply[2])
                count = count + 1
            end
        until iterator == 0
        return count
    """
    assert client.eval(script, 2, "k", "copy") > 1
    assert client.execute_command("CF.EXISTS", "copy", "a") == 1


def test_a_dump_ends_without_a_trace(client):
    client.execute_command("CF.INSERT", "k", "CAPACITY", 100_000, "ITEMS", *range(1000))
    first, before = chunks(client, "k"), client.memory_usage("k")
    for _ in range(3):
        client.execute_command("CF.MEXISTS", "k", *range(1000))
        assert chunks(client, "k") == first
    assert client.memory_usage("k") == before


def test_load_takes_a_filter_of_one_chunk(server, client):
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(500))
    [(_, chunk)] = chunks(client, "k")
    assert client.execute_command("CF.LOAD", "copy", chunk) == b"OK"
    assert server.digest("copy") == server.digest("k")
    before = server.digest("k", "copy")
    client.set("text", "x")
    for key, data in (
        ("copy", chunk),
        ("text", chunk),
        ("new", chunk[:-1]),
        ("new", chunk[1:]),
        ("new", b""),
        ("new", chunk + b"x"),
        ("new", b"\xff" * len(chunk)),
    ):
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.LOAD", key, data)
    assert client.exists("new") == 0
    assert server.digest("k", "copy") == before
    client.execute_command("CF.RESERVE", "large", 4_000_000)
    for _, data in chunks(client, "large"):
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.LOAD", "new", data)
    assert client.exists("new") == 0
