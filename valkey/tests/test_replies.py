"""Every command and its reply, byte by byte, in RESP2 and in RESP3."""

import pytest

from samples import found

OK = b"+OK\r\n"
NOT_FOUND = b"-ERR not found\r\n"
INFO_FIELDS = [
    b"Size",
    b"Number of buckets",
    b"Number of filters",
    b"Number of items inserted",
    b"Number of items deleted",
    b"Bucket size",
    b"Expansion rate",
    b"Max iterations",
]


def encode(wire, value):
    """The reply of a command that answers this. Booleans are integers in RESP2."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(encode(wire, one) for one in value)
    if isinstance(value, bool) and wire.protocol == 3:
        return b"#t\r\n" if value else b"#f\r\n"
    return b":%d\r\n" % value


YES, NO = True, False
# With a random seed, an absent item would be found by chance, once in a million times.
SEEDED = ("CF.RESERVE k 1000 SEED 7", OK)
DIALOGUES = {
    "reserve": [
        ("CF.RESERVE k 1000", OK),
        ("CF.RESERVE k 1000", b"-ERR item exists\r\n"),
    ],
    "add": [("CF.ADD k a", YES), ("CF.ADD k a", YES), ("CF.COUNT k a", 2)],
    "addnx": [("CF.ADDNX k a", YES), ("CF.ADDNX k a", NO), ("CF.COUNT k a", 1)],
    "insert": [
        SEEDED,
        ("CF.INSERT k ITEMS a b b", [YES, YES, YES]),
        ("CF.INSERT k NOCREATE ITEMS a", [YES]),
        ("CF.INSERT k CAPACITY 9 ITEMS c", [YES]),
        ("CF.INSERT l capacity 9 items c", [YES]),
        ("CF.COUNT k a", 2),
        ("CF.COUNT k b", 2),
    ],
    "insertnx": [
        SEEDED,
        ("CF.INSERTNX k ITEMS a b b", [1, 1, 0]),
        ("CF.INSERTNX k NOCREATE ITEMS a c", [0, 1]),
        ("CF.INSERTNX l CAPACITY 9 ITEMS c", [1]),
    ],
    "insert without creation": [
        ("CF.INSERT k NOCREATE ITEMS a", NOT_FOUND),
        ("CF.INSERTNX k NOCREATE ITEMS a", NOT_FOUND),
        ("EXISTS k", 0),
    ],
    "exists": [
        ("CF.EXISTS k a", NO),
        ("EXISTS k", 0),
        SEEDED,
        ("CF.ADD k a", YES),
        ("CF.EXISTS k a", YES),
        ("CF.EXISTS k b", NO),
    ],
    "mexists": [
        ("CF.MEXISTS k a b", [NO, NO]),
        SEEDED,
        ("CF.INSERT k ITEMS a c", [YES, YES]),
        ("CF.MEXISTS k a b c a", [YES, NO, YES, YES]),
        ("CF.MEXISTS k b", [NO]),
    ],
    "del": [
        ("CF.DEL k a", b"-ERR Not found\r\n"),
        SEEDED,
        ("CF.INSERT k ITEMS a b b", [YES, YES, YES]),
        ("CF.DEL k a", YES),
        ("CF.DEL k a", NO),
        ("CF.DEL k b", YES),
        ("CF.EXISTS k b", YES),
        ("CF.DEL k b", YES),
        ("CF.DEL k b", NO),
    ],
    "count": [
        ("CF.COUNT k a", 0),
        SEEDED,
        ("CF.INSERT k ITEMS a b b", [YES, YES, YES]),
        ("CF.COUNT k a", 1),
        ("CF.COUNT k b", 2),
        ("CF.COUNT k c", 0),
    ],
    "commands that need the key": [
        ("CF.INFO k", NOT_FOUND),
        ("CF.SCANDUMP k 0", NOT_FOUND),
        ("CF.COMPACT k", NOT_FOUND),
    ],
    "compact": [("CF.ADD k a", YES), ("CF.COMPACT k", OK), ("CF.EXISTS k a", YES)],
}


@pytest.mark.parametrize("dialogue", DIALOGUES.values(), ids=DIALOGUES)
def test_replies(wire, dialogue):
    for words, reply in dialogue:
        assert wire.call(*words.split()) == encode(wire, reply), words


def info(wire, key):
    """Returns the fields of CF.INFO in order, whatever the protocol."""
    reply = wire.call("CF.INFO", key)
    assert reply.startswith(b"%8\r\n" if wire.protocol == 3 else b"*16\r\n"), reply
    parts = wire.call("CF.INFO", key, decode=True)
    return dict(zip(parts[::2], parts[1::2]))


def test_info_has_the_documented_fields_in_order(wire):
    wire.call("CF.RESERVE", "k", 1000, "BUCKETSIZE", 4, "MAXITERATIONS", 30, "EXPANSION", 2)
    wire.call("CF.INSERT", "k", "ITEMS", "a", "b", "b")
    wire.call("CF.DEL", "k", "a")
    fields = info(wire, "k")
    assert list(fields) == INFO_FIELDS
    assert fields[b"Number of filters"] == 1
    assert fields[b"Number of items deleted"] == 1
    assert fields[b"Bucket size"] == 4
    assert fields[b"Expansion rate"] == 2
    assert fields[b"Max iterations"] == 30
    assert fields[b"Size"] > 0 and fields[b"Number of buckets"] > 0


def test_info_reports_the_documented_defaults(wire):
    wire.call("CF.ADD", "k", "a")
    fields = info(wire, "k")
    assert fields[b"Bucket size"] == 2
    assert fields[b"Expansion rate"] == 1
    assert fields[b"Max iterations"] == 20
    assert fields[b"Number of items inserted"] == 1
    assert fields[b"Number of items deleted"] == 0


def test_a_full_filter_refuses_single_items(wire):
    wire.call("CF.RESERVE", "k", 8, "EXPANSION", 0)
    replies = [wire.call("CF.ADDNX", "k", number) for number in range(1000)]
    assert replies[0] == encode(wire, YES)
    added = [number for number in range(1000) if replies[number] == encode(wire, YES)]
    refused = [reply for reply in replies if reply.startswith(b"-")]
    assert refused and b"full" in refused[0].lower(), refused[:1]
    assert len(added) >= 7
    for number in added:
        assert wire.call("CF.EXISTS", "k", number) == encode(wire, YES)


@pytest.mark.parametrize("command", ["CF.INSERT", "CF.INSERTNX"])
def test_a_full_filter_answers_minus_one_per_item(wire, command):
    wire.call("CF.RESERVE", "k", 8, "EXPANSION", 0)
    reply = wire.call(command, "k", "ITEMS", *range(1000))
    lines = reply.split(b"\r\n")[1:-1]
    assert len(lines) == 1000
    yes = encode(wire, YES)[:-2] if command == "CF.INSERT" else b":1"
    allowed = {yes, b":-1"} if command == "CF.INSERT" else {yes, b":0", b":-1"}
    assert set(lines) <= allowed and b":-1" in lines
    for number, line in enumerate(lines):
        if line == yes:
            assert wire.call("CF.EXISTS", "k", number) == encode(wire, YES)


def test_duplicates_are_counted_or_refused(wire):
    wire.call("CF.RESERVE", "k", 64)
    added = 0
    for _ in range(300):
        reply = wire.call("CF.ADD", "k", "same")
        if reply == encode(wire, YES):
            added += 1
        else:
            assert reply.startswith(b"-"), reply
        assert wire.call("CF.COUNT", "k", "same") == b":%d\r\n" % added
    assert added >= 2
    for left in range(added - 1, -1, -1):
        assert wire.call("CF.DEL", "k", "same") == encode(wire, YES)
        assert wire.call("CF.COUNT", "k", "same") == b":%d\r\n" % left


def test_the_rate_of_a_reserved_filter(client):
    """1 in 1 000 is the rate: 200 of 200 000 are expected, and 320 are eight deviations off."""
    client.execute_command("CF.RESERVE", "k", 10000, "ERROR", "0.001", "SEED", 7)
    client.execute_command("CF.INSERT", "k", "ITEMS", *(f"in {n}" for n in range(10000)))
    false = sum(found(client, "k", [f"out {number}" for number in range(200_000)]))
    assert false <= 320
