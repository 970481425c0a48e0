"""Every command and its reply, byte by byte, in RESP2 and in RESP3."""

import pytest

OK = b"+OK\r\n"
# With a random seed, an absent item would be found by chance, once in a million times.
SEEDED = ("CF.RESERVE", "k", "1000", "SEED", "7")
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


def boolean(wire, value):
    """The reply of a command that answers a boolean in RESP3 and an integer in RESP2."""
    if wire.protocol == 3:
        return b"#t\r\n" if value else b"#f\r\n"
    return b":1\r\n" if value else b":0\r\n"


def booleans(wire, *values):
    return b"*%d\r\n" % len(values) + b"".join(boolean(wire, value) for value in values)


def integers(*values):
    return b"*%d\r\n" % len(values) + b"".join(b":%d\r\n" % value for value in values)


def info(wire, key):
    """Returns the fields of CF.INFO in order, whatever the protocol."""
    reply = wire.call("CF.INFO", key)
    assert reply.startswith(b"%8\r\n" if wire.protocol == 3 else b"*16\r\n"), reply
    lines = reply.split(b"\r\n")[1:-1]
    fields, text = {}, None
    for line in lines:
        if line[:1] == b":":
            fields[text] = int(line[1:])
        elif line[:1] == b"+":
            text = line[1:]
        elif line[:1] != b"$":
            text = line
    return fields


def test_reserve(wire):
    assert wire.call("CF.RESERVE", "k", 1000) == OK
    assert wire.call("CF.RESERVE", "k", 1000) == b"-ERR item exists\r\n"


def test_add(wire):
    assert wire.call("CF.ADD", "k", "a") == boolean(wire, True)
    assert wire.call("CF.ADD", "k", "a") == boolean(wire, True)
    assert wire.call("CF.COUNT", "k", "a") == b":2\r\n"


def test_addnx(wire):
    assert wire.call("CF.ADDNX", "k", "a") == boolean(wire, True)
    assert wire.call("CF.ADDNX", "k", "a") == boolean(wire, False)
    assert wire.call("CF.COUNT", "k", "a") == b":1\r\n"


def test_insert(wire):
    wire.call(*SEEDED)
    assert wire.call("CF.INSERT", "k", "ITEMS", "a", "b", "b") == booleans(wire, 1, 1, 1)
    assert wire.call("CF.INSERT", "k", "NOCREATE", "ITEMS", "a") == booleans(wire, 1)
    assert wire.call("CF.INSERT", "k", "CAPACITY", 9, "ITEMS", "c") == booleans(wire, 1)
    assert wire.call("CF.INSERT", "l", "capacity", 9, "items", "c") == booleans(wire, 1)
    assert wire.call("CF.COUNT", "k", "a") == b":2\r\n"
    assert wire.call("CF.COUNT", "k", "b") == b":2\r\n"


def test_insertnx(wire):
    wire.call(*SEEDED)
    assert wire.call("CF.INSERTNX", "k", "ITEMS", "a", "b", "b") == integers(1, 1, 0)
    assert wire.call("CF.INSERTNX", "k", "NOCREATE", "ITEMS", "a", "c") == integers(0, 1)
    assert wire.call("CF.INSERTNX", "l", "CAPACITY", 9, "ITEMS", "c") == integers(1)


@pytest.mark.parametrize("command", ["CF.INSERT", "CF.INSERTNX"])
def test_insert_without_creation(wire, command):
    missing = b"-ERR not found\r\n"
    assert wire.call(command, "k", "NOCREATE", "ITEMS", "a") == missing
    assert wire.call("EXISTS", "k") == b":0\r\n"


def test_exists(wire):
    assert wire.call("CF.EXISTS", "k", "a") == boolean(wire, False)
    wire.call(*SEEDED)
    wire.call("CF.ADD", "k", "a")
    assert wire.call("CF.EXISTS", "k", "a") == boolean(wire, True)
    assert wire.call("CF.EXISTS", "k", "b") == boolean(wire, False)
    assert wire.call("EXISTS", "missing") == b":0\r\n"


def test_mexists(wire):
    assert wire.call("CF.MEXISTS", "k", "a", "b") == booleans(wire, 0, 0)
    wire.call(*SEEDED)
    wire.call("CF.INSERT", "k", "ITEMS", "a", "c")
    assert wire.call("CF.MEXISTS", "k", "a", "b", "c", "a") == booleans(wire, 1, 0, 1, 1)
    assert wire.call("CF.MEXISTS", "k", "b") == booleans(wire, 0)


def test_del(wire):
    wire.call(*SEEDED)
    wire.call("CF.INSERT", "k", "ITEMS", "a", "b", "b")
    assert wire.call("CF.DEL", "k", "a") == boolean(wire, True)
    assert wire.call("CF.DEL", "k", "a") == boolean(wire, False)
    assert wire.call("CF.DEL", "k", "b") == boolean(wire, True)
    assert wire.call("CF.EXISTS", "k", "b") == boolean(wire, True)
    assert wire.call("CF.DEL", "k", "b") == boolean(wire, True)
    assert wire.call("CF.DEL", "k", "b") == boolean(wire, False)


def test_del_of_a_missing_key(wire):
    reply = wire.call("CF.DEL", "k", "a")
    assert reply.startswith(b"-") and b"not found" in reply.lower(), reply


def test_count(wire):
    assert wire.call("CF.COUNT", "k", "a") == b":0\r\n"
    wire.call(*SEEDED)
    wire.call("CF.INSERT", "k", "ITEMS", "a", "b", "b")
    assert wire.call("CF.COUNT", "k", "a") == b":1\r\n"
    assert wire.call("CF.COUNT", "k", "b") == b":2\r\n"
    assert wire.call("CF.COUNT", "k", "c") == b":0\r\n"


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


@pytest.mark.parametrize("command", [("CF.INFO", "k"), ("CF.SCANDUMP", "k", 0)])
def test_commands_that_need_the_key(wire, command):
    assert wire.call(*command) == b"-ERR not found\r\n"


def test_compact(wire):
    wire.call("CF.ADD", "k", "a")
    assert wire.call("CF.COMPACT", "k") == OK
    assert wire.call("CF.EXISTS", "k", "a") == boolean(wire, True)
    reply = wire.call("CF.COMPACT", "missing")
    assert reply.startswith(b"-") and b"not found" in reply.lower(), reply


def test_a_full_filter_refuses_single_items(wire):
    wire.call("CF.RESERVE", "k", 8, "EXPANSION", 0)
    replies = [wire.call("CF.ADDNX", "k", number) for number in range(1000)]
    assert replies[0] == boolean(wire, True)
    added = [number for number in range(1000) if replies[number] == boolean(wire, True)]
    refused = [reply for reply in replies if reply.startswith(b"-")]
    assert refused and b"full" in refused[0].lower(), refused[:1]
    assert len(added) >= 7
    for number in added:
        assert wire.call("CF.EXISTS", "k", number) == boolean(wire, True)


@pytest.mark.parametrize("command", ["CF.INSERT", "CF.INSERTNX"])
def test_a_full_filter_answers_minus_one_per_item(wire, command):
    wire.call("CF.RESERVE", "k", 8, "EXPANSION", 0)
    reply = wire.call(command, "k", "ITEMS", *range(1000))
    lines = reply.split(b"\r\n")[1:-1]
    assert len(lines) == 1000
    yes = boolean(wire, True)[:-2] if command == "CF.INSERT" else b":1"
    allowed = {yes, b":-1"} if command == "CF.INSERT" else {yes, b":0", b":-1"}
    assert set(lines) <= allowed and b":-1" in lines
    for number, line in enumerate(lines):
        if line == yes:
            assert wire.call("CF.EXISTS", "k", number) == boolean(wire, True)


def test_duplicates_are_counted_or_refused(wire):
    wire.call("CF.RESERVE", "k", 64)
    added = 0
    for _ in range(300):
        reply = wire.call("CF.ADD", "k", "same")
        if reply == boolean(wire, True):
            added += 1
        else:
            assert reply.startswith(b"-"), reply
        assert wire.call("CF.COUNT", "k", "same") == b":%d\r\n" % added
    assert added >= 2
    for left in range(added - 1, -1, -1):
        assert wire.call("CF.DEL", "k", "same") == boolean(wire, True)
        assert wire.call("CF.COUNT", "k", "same") == b":%d\r\n" % left


def test_a_growing_filter_keeps_every_item(client):
    client.execute_command("CF.RESERVE", "k", 16, "EXPANSION", 2)
    for start in range(0, 20000, 500):
        items = [f"item {number}" for number in range(start, start + 500)]
        assert client.execute_command("CF.INSERT", "k", "ITEMS", *items) == [1] * 500
    for start in range(0, 20000, 500):
        items = [f"item {number}" for number in range(start, start + 500)]
        assert client.execute_command("CF.MEXISTS", "k", *items) == [1] * 500


def test_the_rate_of_a_reserved_filter(client):
    """1 in 1 000 is the rate: 200 of 200 000 are expected, and 320 are eight deviations off."""
    client.execute_command("CF.RESERVE", "k", 10000, "ERROR", "0.001", "SEED", 7)
    client.execute_command("CF.INSERT", "k", "ITEMS", *(f"in {n}" for n in range(10000)))
    false = 0
    for start in range(0, 200_000, 100_000):
        absent = [f"out {number}" for number in range(start, start + 100_000)]
        false += sum(client.execute_command("CF.MEXISTS", "k", *absent))
    assert false <= 320
