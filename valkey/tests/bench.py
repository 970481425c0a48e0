"""Measures the module beside the server's sets: CPU time of the server per command, and bytes.

Rounds of the commands that are compared take turns, in pipelines of 32. The figures are medians
over the rounds, and ratios compare neighbours of the same round.

The part `held` is not run by default, because it takes about ten minutes and 3 GiB: it fills a
filter of 1 GiB, and shows for how long each command holds the server, in CPU time of its main
thread. (Beside other programs, the time on the clock would be theirs as well.)
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import tempfile

from samples import found, insert
from servers import Server, find_binary, wait_until
from wire import Wire, encode

PIPELINE = 32
ITEMS = 1_000_000
LARGE = 1 << 26
ITEM = b"$9\r\n%09d\r\n"
LAST_CHUNK = "CF.LOADCHUNK, last chunk"
# What the server does in a single call, or has a type do.
AT_ONCE = ("BGSAVE", "COPY", "DUMP")


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

    def run(self, commands):
        """Sends commands in pipelines, and returns the server's microseconds for each."""
        starts = range(0, len(commands), PIPELINE)
        batches = [commands[start : start + PIPELINE] for start in starts]
        before = self.cpu()
        for batch in batches:
            self.wire.socket.sendall(b"".join(batch))
            for _ in batch:
                reply = self.wire.receive()
                assert reply[:1] != b"-", reply
        return (self.cpu() - before) * 1e6 / len(commands)

    def compare(self, name, bar, ours, theirs):
        """Takes turns; each argument makes the commands of a round from its number."""
        times = {ours: [], theirs: []}
        for number in range(self.rounds):
            for side in (ours, theirs) if number % 2 else (theirs, ours):
                times[side].append(self.run(side(number)))
        ratio = statistics.median(one / other for one, other in zip(times[ours], times[theirs]))
        mine, other = map(statistics.median, times.values())
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

    def of(count, items, *start):
        def words():
            return [*start, *(item(bench.rng.randrange(2 * ITEMS)) for _ in range(items))]

        return lambda _: [encode(words()) for _ in range(count)]

    exists, member = of(40_000, 1, "CF.EXISTS", "filter"), of(40_000, 1, "SISMEMBER", "set")
    bench.compare("CF.EXISTS / SISMEMBER", 1.3, exists, member)
    exists, member = of(1_000, 100, "CF.MEXISTS", "filter"), of(1_000, 100, "SMISMEMBER", "set")
    bench.compare("CF.MEXISTS / SMISMEMBER, 100 items", 0.55, exists, member)


def inserts(bench):
    """New items into a set and a filter of a quarter of a million to half a million items."""

    def adds(*start):
        def commands(number):
            first = ITEMS + number * 30_000
            order = list(range(first, first + 30_000))
            bench.rng.shuffle(order)
            return [encode([*start, item(number)]) for number in order]

        return commands

    ours, theirs = adds("CF.ADDNX", "adds"), adds("SADD", "adds to the set")
    bench.compare("CF.ADDNX / SADD", 1.1, ours, theirs)


def large(bench):
    """One command with 100 000 items, in a filter of 2^26."""
    client = bench.client
    client.execute_command("CF.RESERVE", "large", LARGE)
    # Enough to touch every page of the buckets.
    insert(client, "large", [item(number) for number in range(3_000_000)])
    times = []
    for _ in range(max(bench.rounds, 9)):
        items = [item(bench.rng.randrange(6_000_000)) for _ in range(100_000)]
        client.config_resetstat()
        client.execute_command("CF.MEXISTS", "large", *items)
        times.append(client.info("commandstats")["cmdstat_cf.mexists"]["usec"] / 1000)
    time = statistics.median(times)
    bench.report("CF.MEXISTS, 100 000 items in 2^26", f"{time:.1f} ms", time <= 12, "12 ms")
    client.delete("large")


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


def growth(bench):
    """Memory and false positives of filters that grow 100-fold and 1,000-fold."""
    client = bench.client
    absent = [item(number) for number in range(10 * ITEMS, 11 * ITEMS)]
    for rate in (0.01, 0.001):
        client.execute_command("CF.RESERVE", "grown", 1_000, "ERROR", rate)
        start, before, step, worst = 0, 0, 0, 0
        for end in (10_000, 100_000, ITEMS):
            while start < end:
                more = min(end - start, max(start // 400, 1))
                insert(client, "grown", [item(number) for number in range(start, start + more)])
                start += more
                memory = client.memory_usage("grown")
                if end > 10_000:
                    step = max(step, memory / before - 1)
                if end == ITEMS:
                    worst = max(worst, memory / start)
                before = memory
            false = sum(found(client, "grown", absent)) / len(absent)
            name = f"ERROR {rate}, grown from 1 000 to {end}"
            print(f"     {name:45} {before / end:.2f} bytes per item, {false:.4%} false positives")
            bench.report("false positives", f"{false:.4%}", false <= rate, f"{rate:.1%}")
        print(f"     {'most bytes per item from 100 000 on':45} {worst:.2f}")
        bench.report("largest step from 10 000 on", f"1/{1 / step:.0f}", step <= 1 / 16, "1/16")
        client.delete("grown")


def stream(wire, batches, expected):
    """Sends batches of commands, and compares the replies to each with the expected ones."""
    for number, batch in enumerate(batches):
        wire.socket.sendall(batch)
        # The server works on a batch while the next one is made.
        if number > 0:
            assert wire.take(len(expected)) == expected
    assert wire.take(len(expected)) == expected


def numbered(pattern, start, end, step=1):
    """Returns batches, each with the next 1 000 numbers in its places for them."""
    size = 1_000 * step
    return (pattern % tuple(range(at, at + size, step)) for at in range(start, end, size))


def held(bench):
    """For how long commands hold the server, with a filter of 1 GiB that has grown 100-fold."""
    client, count = bench.client, 415_000_000
    client.flushall()
    client.config_set("guira.max-filter-bytes", 2 << 30)
    client.config_set("lazyfree-lazy-user-del", "no")
    times = {}

    def main_thread():
        info = client.info("cpu")
        return info["used_cpu_user_main_thread"] + info["used_cpu_sys_main_thread"]

    def call(name, function, *arguments):
        before = main_thread()
        reply = function(*arguments)
        times.setdefault(name, []).append((main_thread() - before) * 1000)
        return reply

    def report(*names):
        for name in names:
            slowest, bar = max(times[name]), math.inf if name in AT_ONCE else 20
            figure = f"{slowest:.1f} ms of {len(times[name])} calls"
            bench.report(f"{name}, 1 GiB", figure, slowest <= bar, f"{bar} ms")

    client.execute_command("CF.RESERVE", "k", count // 100)
    insert = encode(["CF.INSERT", "k", "ITEMS"]).replace(b"*3", b"*1003") + 1_000 * ITEM
    added = b"*1000\r\n" + b":1\r\n" * 1_000
    stream(bench.wire, numbered(insert, 0, count), added)
    memory = client.memory_usage("k")
    print(f"     {memory / count:.3f} bytes per item", flush=True)
    for batch in numbered(insert, count, 999_999_999):
        call("CF.INSERT, 1 000 items", stream, bench.wire, [batch], added)
        if client.memory_usage("k") > memory:
            break
    report("CF.INSERT, 1 000 items")
    call("COPY", client.copy, "k", "copy")
    call("DEL", client.delete, "copy")
    call("BGSAVE", client.bgsave)
    wait_until(lambda: not client.info("persistence")["rdb_bgsave_in_progress"], 300)
    report("COPY", "DEL", "BGSAVE")
    command = client.execute_command
    iterator, chunk = call("CF.SCANDUMP", command, "CF.SCANDUMP", "k", 0)
    while iterator != 0:
        last = ("CF.LOADCHUNK", "copy", iterator, chunk)
        iterator, chunk = call("CF.SCANDUMP", command, "CF.SCANDUMP", "k", iterator)
        call("CF.LOADCHUNK" if iterator else LAST_CHUNK, command, *last)
    call("UNLINK", client.unlink, "copy")
    report("CF.SCANDUMP", "CF.LOADCHUNK", LAST_CHUNK, "UNLINK")
    call("DUMP", client.dump, "k")
    report("DUMP")
    # Four fifths of the items stay, so that the buckets that stay become full.
    remove = encode(["CF.DEL", "k", "%09d"]).replace(b"$4", b"$9") * 1_000
    stream(bench.wire, numbered(remove, 0, count, 5), b":1\r\n" * 1_000)
    while call("CF.COMPACT", command, "CF.COMPACT", "k") == b"MORE":
        pass
    report("CF.COMPACT")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=("redis", "valkey"), default="valkey")
    parser.add_argument("--rounds", type=int, default=9)
    parts = {part.__name__: part for part in (lookups, inserts, large, memory, growth, held)}
    parser.add_argument("parts", nargs="*", help=f"of {[*parts]}; by default all but the last one")
    arguments = parser.parse_args()
    print(f"{arguments.kind}: {find_binary(arguments.kind)}")
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(os.environ["GUIRA_MODULE"])
        server = Server(arguments.kind, module, folder).start()
        try:
            bench = Bench(server, arguments.rounds)
            fill(bench)
            for name in arguments.parts or [*parts][:-1]:
                parts[name](bench)
        finally:
            server.kill()
    raise SystemExit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
