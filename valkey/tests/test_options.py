"""Options: their ranges, their order, and what the errors say."""

import pytest

from commands import COMMANDS
from samples import info

REFUSED_RESERVES = {
    "zero capacity": (0,),
    "negative capacity": (-5,),
    "capacity that is no number": ("many",),
    "capacity with a fraction": ("10.5",),
    "empty capacity": ("",),
    "capacity beyond 64 bits": (1 << 70,),
    "capacity beyond any memory": ((1 << 63) - 1,),
    "bucket size of zero": (100, "BUCKETSIZE", 0),
    "negative bucket size": (100, "BUCKETSIZE", -1),
    "bucket size beyond 255": (10000, "BUCKETSIZE", 256),
    "bucket size that is no number": (100, "BUCKETSIZE", "x"),
    "zero iterations": (100, "MAXITERATIONS", 0),
    "negative iterations": (100, "MAXITERATIONS", -3),
    "iterations beyond 65535": (100, "MAXITERATIONS", 65536),
    "negative expansion": (100, "EXPANSION", -1),
    "expansion beyond 32768": (100, "EXPANSION", 32769),
    "rate of zero": (100, "ERROR", 0),
    "rate of one": (100, "ERROR", 1),
    "negative rate": (100, "ERROR", "-0.1"),
    "rate above one": (100, "ERROR", "1.5"),
    "rate that is no number": (100, "ERROR", "x"),
    "rate that is not a number": (100, "ERROR", "nan"),
    "infinite rate": (100, "ERROR", "inf"),
    "rate that no filter has": (100, "ERROR", "1e-30"),
    "option without a value": (100, "BUCKETSIZE"),
    "second option without a value": (100, "EXPANSION", 2, "MAXITERATIONS"),
    "unknown option": (100, "COLOUR", 1),
    "value without an option": (100, 5),
}


@pytest.mark.parametrize("words", REFUSED_RESERVES.values(), ids=REFUSED_RESERVES)
def test_refused_reserves(client, words, wire):
    reply = wire.call("CF.RESERVE", "k", *words)
    assert reply.startswith(b"-ERR "), reply
    assert wire.call("EXISTS", "k") == b":0\r\n"


ACCEPTED_RESERVES = {
    "smallest capacity": (1,),
    "smallest buckets": (2, "BUCKETSIZE", 1),
    "largest bucket size": (10000, "BUCKETSIZE", 255),
    "largest iterations": (100, "MAXITERATIONS", 65535),
    "smallest iterations": (100, "MAXITERATIONS", 1),
    "no expansion": (100, "EXPANSION", 0),
    "largest expansion": (100, "EXPANSION", 32768),
    "small rate": (100, "ERROR", "0.00005"),
    "large rate": (100, "ERROR", "0.1"),
    "rate with an exponent": (100, "ERROR", "1e-3"),
    "lower case": (100, "bucketsize", 4, "maxiterations", 9, "expansion", 2, "error", "0.01"),
    "another order": (100, "EXPANSION", 2, "ERROR", "0.01", "MAXITERATIONS", 9, "BUCKETSIZE", 4),
}


@pytest.mark.parametrize("words", ACCEPTED_RESERVES.values(), ids=ACCEPTED_RESERVES)
def test_accepted_reserves(client, words):
    assert client.execute_command("CF.RESERVE", "k", *words) == b"OK"
    fields = info(client, "k")
    options = {str(name).upper(): value for name, value in zip(words[1::2], words[2::2])}
    assert fields[b"Bucket size"] == options.get("BUCKETSIZE", 2)
    assert fields[b"Max iterations"] == options.get("MAXITERATIONS", 20)
    assert fields[b"Expansion rate"] == options.get("EXPANSION", 1)
    assert client.execute_command("CF.ADD", "k", "a") == 1
    assert client.execute_command("CF.EXISTS", "k", "a") == 1


REFUSED_INSERTS = {
    "no items": ("ITEMS",),
    "no ITEMS": ("a", "b"),
    "capacity without a value": ("CAPACITY", "ITEMS"),
    "zero capacity": ("CAPACITY", 0, "ITEMS", "a"),
    "negative capacity": ("CAPACITY", -1, "ITEMS", "a"),
    "capacity that is no number": ("CAPACITY", "x", "ITEMS", "a"),
    "capacity beyond any memory": ("CAPACITY", (1 << 63) - 1, "ITEMS", "a"),
    "unknown option": ("COLOUR", "red", "ITEMS", "a"),
    "options without items": ("CAPACITY", 100, "NOCREATE"),
}


@pytest.mark.parametrize("command", ["CF.INSERT", "CF.INSERTNX"])
@pytest.mark.parametrize("words", REFUSED_INSERTS.values(), ids=REFUSED_INSERTS)
def test_refused_inserts(wire, command, words):
    reply = wire.call(command, "k", *words)
    assert reply.startswith(b"-ERR "), reply
    assert wire.call("EXISTS", "k") == b":0\r\n"


def test_items_that_look_like_options(client):
    words = ("CAPACITY", "100", "NOCREATE", "ITEMS", "ERROR")
    client.execute_command("CF.RESERVE", "k", 1000, "SEED", 7)
    assert client.execute_command("CF.INSERT", "k", "ITEMS", *words) == [1] * 5
    assert client.execute_command("CF.MEXISTS", "k", *words) == [1] * 5
    assert client.execute_command("CF.ADD", "k", "ITEMS") == 1
    assert client.execute_command("CF.COUNT", "k", "ITEMS") == 2


def arity_error(command):
    return f"-err wrong number of arguments for '{command.lower()}' command\r\n".encode()


@pytest.mark.parametrize("command", COMMANDS)
def test_too_few_words(wire, command):
    words = ("k", "1", "2")[: abs(COMMANDS[command].arity) - 2]
    assert wire.call(command, *words).lower() == arity_error(command)


@pytest.mark.parametrize("command", [n for n, command in COMMANDS.items() if command.arity > 0])
def test_too_many_words(wire, command):
    wire.call("CF.ADD", "k", "a")
    assert wire.call(command, "k", "1", "2", "3", "4").lower() == arity_error(command)
