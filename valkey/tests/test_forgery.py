"""Streams with forged fields and right checksums: refused, or filters that work in every way."""

import struct

import pytest
import redis

from forge import forgeries, repair, seal
from payloads import STRING, UNSIGNED, Payload
from samples import chunks, configured

RESERVES = {
    "growing": (16, "EXPANSION", 2, "SEED", 7),
    "fixed": (16, "EXPANSION", 0, "BUCKETSIZE", 3, "SEED", 7),
    "low rate": (16, "EXPANSION", 4, "ERROR", "0.0001", "SEED", 7),
}


@pytest.fixture
def client(unchecked):
    with configured(unchecked, **{"guira.max-filter-bytes": 10_000_000}):
        yield unchecked


def stream_of(client, key):
    [(_, chunk)] = chunks(client, key)
    stream = chunk[:-8]
    assert repair(stream) == stream, "forge.py and the module agree about checksums"
    assert seal(stream) == chunk
    payload = Payload(client.dump(key))
    assert payload.fields == fields(stream)
    return stream


def fields(stream):
    """The fields of the payload of a filter that has arrived completely."""
    return [(UNSIGNED, 1), (UNSIGNED, len(stream)), (STRING, stream)]


def load_chunk(client, stream):
    client.execute_command("CF.LOADCHUNK", "forged", len(stream) + 1, seal(stream))


def restore(client, stream):
    """Restores the payload of the key `k` with another stream."""
    client.restore("forged", 0, Payload(client.dump("k")).pack(fields(stream)))


def exercise(server, client, key):
    """Whatever was accepted must work: commands, growth, saving, and freeing."""
    for words in (
        ("CF.INFO", key),
        ("CF.INSERT", key, "ITEMS", *range(300)),
        ("CF.MEXISTS", key, *range(300)),
        ("CF.COUNT", key, "1"),
        ("CF.DEL", key, "1"),
        ("CF.COMPACT", key),
        ("CF.INSERTNX", key, "ITEMS", *range(50)),
    ):
        try:
            client.execute_command(*words)
        except redis.ResponseError:
            pass
    client.restore("again", 0, client.dump(key), replace=True)
    assert server.digest("again") == server.digest(key)
    client.copy(key, "again", replace=True)
    assert chunks(client, key)
    client.delete("again")


def half_loaded(client, key):
    try:
        client.execute_command("CF.EXISTS", key, "a")
    except redis.ResponseError:
        return True
    return False


@pytest.mark.parametrize("load", [load_chunk, restore])
@pytest.mark.parametrize("shape", RESERVES)
def test_forged_streams(server, client, shape, load):
    client.execute_command("CF.RESERVE", "k", *RESERVES[shape])
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(60))
    digest = server.digest("k")
    accepted, refused = [], 0
    for name, forged in forgeries(stream_of(client, "k")):
        try:
            load(client, forged)
        except redis.ResponseError:
            refused += 1
            assert client.exists("forged") == 0, name
            continue
        accepted.append(name)
        if load is load_chunk and half_loaded(client, "forged"):
            client.restore("again", 0, client.dump("forged"), replace=True)
        else:
            exercise(server, client, "forged")
        client.delete("forged", "again")
    server.check()
    assert server.digest("k") == digest
    assert refused > max(100, 2 * len(accepted)), accepted
    assert client.info("memory")["used_memory_peak"] < 100_000_000


def number(value):
    return struct.pack("<d", value)


# Settings that no filter has: their place in the stream, and their bytes.
IMPOSSIBLE = {
    "capacity of zero": (16, bytes(8)),
    "rate of zero": (24, number(0.0)),
    "rate of one": (24, number(1.0)),
    "negative rate": (24, number(-0.01)),
    "infinite rate": (24, number(float("inf"))),
    "rate that is not a number": (24, number(float("nan"))),
    "iterations of zero": (12, bytes(2)),
    "expansion that is no power of two": (14, b"\x03\x00"),
    "byte that is not zero": (11, b"\x01"),
}


@pytest.mark.parametrize("forged", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_settings_that_no_filter_has(client, forged):
    client.execute_command("CF.RESERVE", "k", 16, "EXPANSION", 2)
    stream = stream_of(client, "k")
    at, data = forged
    stream = repair(stream[:at] + data + stream[at + len(data) :])
    for load in (load_chunk, restore):
        with pytest.raises(redis.ResponseError):
            load(client, stream)
    assert client.exists("forged") == 0


def test_chunks_of_another_version(client):
    """Sealed and otherwise right."""
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(60))
    stream = stream_of(client, "k")
    for at in (8, 48 + 8):
        own = int.from_bytes(stream[at : at + 2], "little")
        for version in {0, 1, 2, 3, 255, 65535} - {own}:
            skewed = stream[:at] + version.to_bytes(2, "little") + stream[at + 2 :]
            with pytest.raises(redis.ResponseError, match="version"):
                load_chunk(client, repair(skewed))
    assert client.exists("forged") == 0
