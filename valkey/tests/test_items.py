"""Items and keys as bytes: binary, empty, and large ones."""

import random

ITEMS = [
    b"",
    b"\x00",
    b"\x00" * 7,
    b"\x00" * 8,
    b"a",
    b"a\x00",
    b"a\x00b",
    b"\r\n",
    b"\xff\xfe\xfd",
    bytes(range(256)),
    "Straße ☂".encode(),
    b"1",
    b"01",
    b"1.0",
]


def test_binary_and_empty_items(client):
    client.execute_command("CF.RESERVE", "k", 1000, "SEED", 7)
    for item in ITEMS:
        assert client.execute_command("CF.ADD", "k", item) == 1
    for item in ITEMS:
        assert client.execute_command("CF.COUNT", "k", item) == 1, item
    for item in ITEMS:
        assert client.execute_command("CF.DEL", "k", item) == 1
        assert client.execute_command("CF.EXISTS", "k", item) == 0


def test_items_of_two_megabytes(client):
    large = random.Random(5).randbytes(2 << 20)
    other = large[:-1] + bytes([large[-1] ^ 1])
    assert client.execute_command("CF.RESERVE", "k", 1000, "ERROR", "0.0001", "SEED", 7) == b"OK"
    assert client.execute_command("CF.ADD", "k", large) == 1
    assert client.execute_command("CF.INSERT", "k", "ITEMS", large, b"x") == [1, 1]
    assert client.execute_command("CF.COUNT", "k", large) == 2
    assert client.execute_command("CF.MEXISTS", "k", large, other, b"x") == [1, 0, 1]
    assert client.execute_command("CF.DEL", "k", large) == 1
    assert client.execute_command("CF.ADDNX", "k", large) == 0


def test_binary_and_empty_keys(client):
    for key in ITEMS:
        assert client.execute_command("CF.ADD", key, "a") == 1
        assert client.execute_command("CF.EXISTS", key, "a") == 1
    assert client.dbsize() == len(ITEMS)


def test_many_items_in_one_command(client):
    items = [b"item %d" % number for number in range(100_000)]
    assert client.execute_command("CF.INSERT", "k", "CAPACITY", 100_000, "ITEMS", *items) == [
        1
    ] * len(items)
    assert client.execute_command("CF.MEXISTS", "k", *items) == [1] * len(items)
    assert set(client.execute_command("CF.INSERTNX", "k", "ITEMS", *items)) == {0}
