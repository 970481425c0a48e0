"""Measures the module beside the server's sets: CPU time of the server per command, and bytes.

Rounds of the commands that are compared take turns, in pipelines of 32. The figures are medians
over the rounds, and ratios compare neighbours of the same round.
"""

import argparse
import os
import pathlib
import random
import statistics
import tempfile

from samples import chunks, found, insert
from servers import Server, find_binary
from wire import Wire, encode

PIPELINE = 32
ITEMS = 1_000_000
LARGE = 1 << 26


def item(number):
    return b"item:%012d" % number


class Bench:
    def __init__(self, server, rounds, seed=1):
        self.server = server
        self.rounds = rounds
        self.rng = random.Random(seed)
        self.wire = Wire("127.0.0.1", server.port)
        self.client = server.client()
        self.failed = False

    def cpu(self):
        """Returns the seconds of CPU time that the server has used, kernel included."""
        info = self.client.info("cpu")
        return info["used_cpu_user"] + info["used_cpu_sys"]

    def inside(self, command):
        """Returns the calls of a command and the microseconds within it."""
        stats = self.client.info("commandstats").get(f"cmdstat_{command.lower()}")
        return (stats["calls"], stats["usec"]) if stats else (0, 0)

    def run(self, commands):
        """Sends commands in pipelines, and returns the server's microseconds for each."""
        batches = [
            b"".join(commands[start : start + PIPELINE])
            for start in range(0, len(commands), PIPELINE)
        ]
        before = self.cpu()
        left = len(commands)
        for batch in batches:
            self.wire.socket.sendall(batch)
            for _ in range(min(PIPELINE, left)):
                reply = self.wire.receive()
                assert reply[:1] != b"-", reply
            left -= PIPELINE
        return (self.cpu() - before) * 1e6 / len(commands)

    def compare(self, name, bar, ours, theirs):
        """Takes turns; each argument makes the commands of a round from its number."""
        results = []
        for number in range(self.rounds):
            pair = [("ours", ours(number)), ("theirs", theirs(number))]
            if number % 2:
                pair.reverse()
            results.append({side: self.run(commands) for side, commands in pair})
        ratio = statistics.median(r["ours"] / r["theirs"] for r in results)
        mine = statistics.median(r["ours"] for r in results)
        other = statistics.median(r["theirs"] for r in results)
        self.report(name, f"{ratio:.2f} ({mine:.2f} and {other:.2f} us)", ratio <= bar, bar)

    def report(self, name, figure, good, bar):
        self.failed |= not good
        print(f"{'ok  ' if good else 'MISS'} {name:45} {figure:32} bar {bar}", flush=True)


def fill(bench):
    """A set and a filter with the same items."""
    client = bench.client
    client.execute_command("CF.RESERVE", "filter", ITEMS)
    client.execute_command("CF.RESERVE", "adds", ITEMS)
    for start in range(0, ITEMS, 20_000):
        items = [item(number) for number in range(start, start + 20_000)]
        client.sadd("set", *items)
        client.execute_command("CF.INSERT", "filter", "ITEMS", *items)
        if start < ITEMS // 4:
            client.sadd("adds to the set", *items)
            client.execute_command("CF.INSERT", "adds", "ITEMS", *items)


def lookups(bench):
    """Half of the items are present."""

    def singles(*start):
        return lambda _: [
            encode([*start, item(bench.rng.randrange(2 * ITEMS))]) for _ in range(40_000)
        ]

    def hundreds(*start):
        return lambda _: [
            encode([*start, *(item(bench.rng.randrange(2 * ITEMS)) for _ in range(100))])
            for _ in range(1_000)
        ]

    bench.compare(
        "CF.EXISTS / SISMEMBER",
        1.3,
        singles(b"CF.EXISTS", b"filter"),
        singles(b"SISMEMBER", b"set"),
    )
    bench.compare(
        "CF.MEXISTS / SMISMEMBER, 100 items",
        0.55,
        hundreds(b"CF.MEXISTS", b"filter"),
        hundreds(b"SMISMEMBER", b"set"),
    )


def inserts(bench):
    """New items into a set and a filter of a quarter of a million to half a million items."""

    def adds(*start):
        def commands(number):
            first = ITEMS + number * 30_000
            order = list(range(first, first + 30_000))
            bench.rng.shuffle(order)
            return [encode([*start, item(number)]) for number in order]

        return commands

    bench.compare(
        "CF.ADDNX / SADD", 1.1, adds(b"CF.ADDNX", b"adds"), adds(b"SADD", b"adds to the set")
    )


def large(bench):
    """One command with 100 000 items, and chunks of a dump, in a filter of 2^26."""
    client = bench.client
    client.execute_command("CF.RESERVE", "large", LARGE)
    # Enough to touch every page of the buckets.
    insert(client, "large", [item(number) for number in range(3_000_000)])
    times = []
    for _ in range(max(bench.rounds, 9)):
        items = [item(bench.rng.randrange(6_000_000)) for _ in range(100_000)]
        before = bench.inside("CF.MEXISTS")
        client.execute_command("CF.MEXISTS", "large", *items)
        times.append((bench.inside("CF.MEXISTS")[1] - before[1]) / 1000)
    time = statistics.median(times)
    bench.report("CF.MEXISTS, 100 000 items in 2^26", f"{time:.1f} ms", time <= 12, "12 ms")
    iterator, times = 0, []
    while True:
        before = bench.inside("CF.SCANDUMP")
        iterator, _ = client.execute_command("CF.SCANDUMP", "large", iterator)
        if iterator == 0:
            break
        times.append((bench.inside("CF.SCANDUMP")[1] - before[1]) / 1000)
    figure = f"{max(times):.1f} ms of {len(times)} chunks"
    bench.report("CF.SCANDUMP, slowest chunk of 2^26", figure, max(times) <= 10, "10 ms")
    times = []
    for iterator, data in chunks(client, "large"):
        before = bench.inside("CF.LOADCHUNK")
        client.execute_command("CF.LOADCHUNK", "copy", iterator, data)
        times.append((bench.inside("CF.LOADCHUNK")[1] - before[1]) / 1000)
    print(f"     {'CF.LOADCHUNK, slowest chunk of 2^26':45} {max(times):.1f} ms")
    client.delete("large", "copy")


def memory(bench):
    """Bytes for each item reserved, and false positives, beside those of a set."""
    client = bench.client
    per_item = client.memory_usage("filter") / ITEMS
    bench.report("bytes per item reserved, a million", f"{per_item:.2f}", per_item <= 2.7, 2.7)
    client.execute_command("CF.RESERVE", "small", 1024)
    small = client.memory_usage("small")
    bench.report("bytes of capacity 1 024", f"{small}", small <= 7500, 7500)
    per_member = client.memory_usage("set", samples=1000) / ITEMS
    print(f"     {'bytes per member of the set':45} {per_member:.1f}")
    absent = [item(number) for number in range(10 * ITEMS, 11 * ITEMS)]
    false = sum(found(client, "filter", absent))
    print(f"     {'false positives of the full filter':45} {false / ITEMS:.4%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=("redis", "valkey"), default="valkey")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("parts", nargs="*", help="lookups, inserts, large, memory; all by default")
    arguments = parser.parse_args()
    print(f"{arguments.kind}: {find_binary(arguments.kind)}")
    every = {"lookups": lookups, "inserts": inserts, "large": large, "memory": memory}
    parts = [every[name] for name in arguments.parts or every]
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(os.environ["GUIRA_MODULE"])
        server = Server(arguments.kind, module, folder).start()
        try:
            bench = Bench(server, arguments.rounds)
            fill(bench)
            for part in parts:
                part(bench)
        finally:
            server.kill()
    raise SystemExit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
