"""Truncated, flipped, forged, and version-skewed data is refused and leaves no trace."""

import random

import pytest
import redis

from payloads import FOOTER, STRING, UNSIGNED, Payload
from samples import assert_held, chunks, load_chunks, metrics, populate, whole
from test_memory import used


@pytest.fixture
def client(unchecked):
    return unchecked


def samples(client):
    """Small filters of each kind."""
    client.execute_command("CF.RESERVE", "growing", 16, "EXPANSION", 2)
    client.execute_command("CF.INSERT", "growing", "ITEMS", *range(100))
    client.execute_command("CF.RESERVE", "fixed", 16, "EXPANSION", 0)
    client.execute_command("CF.INSERT", "fixed", "ITEMS", *range(10))
    return ["growing", "fixed"]


def attempt(client, commands):
    """Runs commands in one pipeline and returns their replies, errors included."""
    pipeline = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    return pipeline.execute(raise_on_error=False)


def assert_all_refused(client, commands):
    replies = attempt(client, commands)
    assert all(isinstance(reply, redis.ResponseError) for reply in replies)


def flips(data, end=0):
    """Returns the data with each of its bits flipped, but for the last bytes."""
    number = int.from_bytes(data, "little")
    bits = range(8 * (len(data) - end))
    return [(number ^ 1 << bit).to_bytes(len(data), "little") for bit in bits]


def assert_refused(server, client, dumps, digest):
    """Each of `dumps` is refused, or is the filter whose digest is given, if one is."""
    if digest is None:
        assert_all_refused(client, [("RESTORE", "damaged", 0, dump) for dump in dumps])
    keys, before, memory = client.dbsize(), metrics(client), used(client)
    for start in range(0, len(dumps), 500):
        part = dumps[start : start + 500]
        replies = attempt(client, [("RESTORE", "damaged", 0, dump, "REPLACE") for dump in part])
        for dump, reply in zip(part, replies):
            if not isinstance(reply, redis.ResponseError):
                client.restore("again", 0, dump, replace=True)
                assert server.digest("again") == [digest]
                client.delete("again")
        client.delete("damaged")
    server.check()
    assert (client.dbsize(), metrics(client)) == (keys, before)
    assert used(client) - memory < 200_000


def test_truncated_dumps(server, client):
    for key in samples(client):
        dump = client.dump(key)
        body, footer = dump[:-FOOTER], dump[-FOOTER:]
        cuts = [body[:end] + footer for end in range(len(body))]
        # A server reads on into the footer, whose first bytes may be those that were cut off.
        cuts = [cut for cut in cuts if not cut.startswith(body)]
        assert_refused(server, client, cuts, None)


def test_flipped_dumps(server, client):
    for key in samples(client):
        dumps = flips(client.dump(key), FOOTER)
        assert_refused(server, client, dumps, server.digest(key)[0])


def test_dumps_of_other_versions(server, client):
    for key in samples(client):
        payload = Payload(client.dump(key))
        version = payload.identity & 1023
        identities = [payload.identity - version + other for other in range(1024)]
        dumps = [payload.pack(identity=i) for i in identities if i != payload.identity]
        assert_refused(server, client, dumps, None)


def test_forged_fields(server, client):
    """Fields are missing, doubled, of another type, or enormous."""
    keys = samples(client)
    fields_of = {key: Payload(client.dump(key)).fields for key in keys}
    for key in keys:
        payload = Payload(client.dump(key))
        fields = payload.fields
        forged = [fields[:number] for number in range(len(fields))]
        forged += [fields + [extra] for extra in ((UNSIGNED, 0), (STRING, b""), (STRING, b"x"))]
        for number, (opcode, value) in enumerate(fields):
            rest = fields[:number], fields[number + 1 :]
            forged.append(rest[0] + rest[1])
            if opcode == STRING:
                replaced = [b"", b"\0" * len(value), value[:-1], value + b"\0", value * 2]
                replaced += [b"\xff" * len(value), b"\xff" * 100_000]
                forged += [[*rest[0], (STRING, other), *rest[1]] for other in replaced]
                forged.append([*rest[0], (UNSIGNED, 1), *rest[1]])
            else:
                numbers = [0, value - 1, value + 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1]
                numbers = [n for n in numbers if 0 <= n and n != value]
                forged += [[*rest[0], (opcode, other), *rest[1]] for other in numbers]
                forged.append([*rest[0], (STRING, b"text"), *rest[1]])
        for other in keys:
            if other != key:
                mixed = fields[:1] + fields_of[other][1:]
                if mixed not in fields_of.values():
                    forged.append(mixed)
        assert_refused(server, client, [payload.pack(f) for f in forged], server.digest(key)[0])


def test_enormous_lengths_take_no_memory(server, client):
    """Numbers inside of the stream are replaced by enormous ones, eight bytes at a time."""
    for key in samples(client):
        payload = Payload(client.dump(key))
        *head, (opcode, stream) = payload.fields
        assert opcode == STRING
        forged = []
        for at in range(min(len(stream) - 8, 400)):
            for enormous in (1 << 40, (1 << 62) + 8, (1 << 64) - 1):
                data = stream[:at] + enormous.to_bytes(8, "little") + stream[at + 8 :]
                if data != stream:
                    forged.append([*head, (STRING, data)])
        peak = client.info("memory")["used_memory_peak"]
        assert_refused(server, client, [payload.pack(f) for f in forged], None)
        assert client.info("memory")["used_memory_peak"] - max(peak, used(client)) < 20_000_000


def test_flipped_and_truncated_chunks(server, client):
    """Each damaged chunk is refused, and the half-loaded filter goes on with the right one."""
    samples(client)
    for key in ("growing", "fixed"):
        pairs = chunks(client, key)
        for number, (iterator, data) in enumerate(pairs):
            client.delete("loaded")
            load_chunks(client, "loaded", pairs[:number])
            before = server.digest("loaded"), metrics(client)
            damaged = [data[:length] for length in range(len(data))] + flips(data)
            damaged += [data + b"\0", data * 2, b"\0" + data]
            commands = [("CF.LOADCHUNK", "loaded", iterator, other) for other in damaged]
            assert_all_refused(client, commands)
            assert (server.digest("loaded"), metrics(client)) == before
            load_chunks(client, "loaded", pairs[number:])
            assert server.digest("loaded") == server.digest(key)


def test_chunks_out_of_order(server, client):
    client.execute_command("CF.RESERVE", "k", 1 << 24)
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(1000))
    pairs = whole(chunks(client, "k"))
    assert len(pairs) > 3
    load_chunks(client, "loaded", pairs[:2])
    before = server.digest("loaded")
    for iterator, data in (pairs[1], pairs[3], (pairs[3][0], pairs[2][1]), (1 << 50, pairs[2][1])):
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.LOADCHUNK", "loaded", iterator, data)
        assert server.digest("loaded") == before
    load_chunks(client, "loaded", pairs[2:])
    assert server.digest("loaded") == server.digest("k")
    for pair in pairs[1:]:
        with pytest.raises(redis.ResponseError):
            client.execute_command("CF.LOADCHUNK", "loaded", *pair)
    assert server.digest("loaded") == server.digest("k")


def test_chunks_of_another_filter(server, client):
    """They fit in place and length. The last of them is refused at the latest, without a trace."""
    for key, first in (("k", 0), ("other", 5000)):
        client.execute_command("CF.RESERVE", key, 1 << 23, "EXPANSION", 0)
        client.execute_command("CF.INSERT", key, "ITEMS", *range(first, first + 1000))
    pairs, others = (whole(chunks(client, key)) for key in ("k", "other"))
    assert len(pairs) == len(others) >= 2
    for number in range(1, len(pairs)):
        client.delete("mixed")
        load_chunks(client, "mixed", pairs[:number])
        digest = server.digest("mixed")
        alien = ("CF.LOADCHUNK", "mixed", pairs[number][0], others[number][1])
        [reply] = attempt(client, [alien])
        if isinstance(reply, redis.ResponseError):
            assert server.digest("mixed") == digest
            load_chunks(client, "mixed", pairs[number:])
            assert server.digest("mixed") == server.digest("k")
        else:
            rest = [("CF.LOADCHUNK", "mixed", *pair) for pair in pairs[number + 1 :]]
            replies = attempt(client, rest)
            assert any(isinstance(reply, redis.ResponseError) for reply in replies)
            with pytest.raises(redis.ResponseError):
                client.execute_command("CF.EXISTS", "mixed", 1)


@pytest.mark.parametrize("sanitize", ["no", "yes"])
def test_damaged_rdb_files(start_server, sanitize):
    """A server either refuses the file or holds filters that are equal to the saved ones."""
    server = start_server(rdbchecksum="no", rdbcompression="no", sanitize_dump_payload=sanitize)
    with server.client() as client:
        keys = samples(client)
        client.execute_command("CF.RESERVE", "larger", 2000)
        client.execute_command("CF.INSERT", "larger", "ITEMS", *range(1500))
        keys.append("larger")
        digests = set(server.digest(*keys))
        client.save()
    path = server.folder / "dump.rdb"
    saved = path.read_bytes()
    server.stop()
    rng = random.Random(11)
    damages = [saved[: rng.randrange(100, len(saved))] for _ in range(6)]
    for _ in range(12):
        flipped = bytearray(saved)
        flipped[rng.randrange(100, len(saved) - 8)] ^= 1 << rng.randrange(8)
        damages.append(bytes(flipped))
    refused = 0
    for damaged in damages:
        path.write_bytes(damaged)
        try:
            server.start()
        except RuntimeError:
            refused += 1
        else:
            with server.client() as client:
                found = [key for key in client.keys() if client.type(key) not in (b"string",)]
                assert set(server.digest(*found)) <= digests if found else True
            server.kill()
        server.check_log()
    assert refused >= 10
    path.write_bytes(saved)
    server.start()
    assert set(server.digest(*keys)) == digests


def test_a_truncated_aof_loses_its_end_only(start_server):
    server = start_server(appendonly="yes", aof_use_rdb_preamble="no")
    with server.client() as client:
        held = populate(client)
        digests = server.digest(*held)
        client.execute_command("CF.INSERT", "last", "ITEMS", *range(1000))
    server.stop()
    path = next((server.folder / "appendonlydir").glob("*.incr.aof"))
    path.write_bytes(path.read_bytes()[:-100])
    server.start()
    with server.client() as client:
        assert server.digest(*held) == digests
        assert_held(client, held)
        assert client.exists("last") == 0
