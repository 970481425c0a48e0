"""Failed commands: keys of other types, full filters, and bad arguments change nothing."""

import pytest

from commands import COMMANDS, example

WRONG_TYPE = b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
ON_A_KEY = {name: example(name) for name in COMMANDS}
ON_A_KEY["CF.INSERT without creation"] = ("CF.INSERT", "k", "NOCREATE", "ITEMS", "a")
OTHER_TYPES = {
    "string": ("SET", "k", "text"),
    "list": ("RPUSH", "k", "a"),
    "set": ("SADD", "k", "a"),
    "hash": ("HSET", "k", "a", "b"),
    "sorted set": ("ZADD", "k", 1, "a"),
    "stream": ("XADD", "k", "*", "a", "b"),
}


def state(client, *keys):
    """What a refused command must leave alone: contents, the change counter, what replicates."""
    persistence = client.info("persistence")
    return (
        client.dbsize(),
        [client.dump(key) for key in keys],
        [client.pttl(key) for key in keys],
        persistence["rdb_changes_since_last_save"],
        client.info("replication")["master_repl_offset"],
    )


@pytest.mark.parametrize("words", ON_A_KEY.values(), ids=ON_A_KEY)
@pytest.mark.parametrize("create", OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_keys_of_other_types(client, create, words, resp2):
    client.execute_command(*create)
    before = state(client, "k")
    assert resp2.call(*words) == WRONG_TYPE
    assert state(client, "k") == before


BAD_WORDS = {
    "reserve of an existing filter": ("CF.RESERVE", "k", 100),
    "insert with a bad capacity": ("CF.INSERT", "k", "CAPACITY", "x", "ITEMS", "a"),
    "insert without items": ("CF.INSERT", "k", "ITEMS"),
    "insert without ITEMS": ("CF.INSERT", "k", "a", "b", "c"),
    "unknown field of info": ("CF.INFO", "k", "colour"),
    "scandump with a bad iterator": ("CF.SCANDUMP", "k", "x"),
    "scandump with a negative iterator": ("CF.SCANDUMP", "k", -1),
    "scandump beyond the end": ("CF.SCANDUMP", "k", 1 << 40),
    "loadchunk with a bad iterator": ("CF.LOADCHUNK", "k", "x", "data"),
    "loadchunk with a negative iterator": ("CF.LOADCHUNK", "k", -1, "data"),
    "loadchunk with iterator zero": ("CF.LOADCHUNK", "k", 0, "data"),
    "loadchunk without data": ("CF.LOADCHUNK", "k", 1, ""),
    "loadchunk with bad data": ("CF.LOADCHUNK", "k", 1, b"\xff" * 100),
    "replay with a negative number": ("CF.REPLAY", "k", "a", 0, 1, -1, 0),
    "replay with a number above 63 bits": ("CF.REPLAY", "k", "a", 0, 1, 1, 1 << 63),
    "replay with a number above 64 bits": ("CF.REPLAY", "k", "a", 0, 1 << 64, 1, 0),
    "replay with a word": ("CF.REPLAY", "k", "a", "NX", 1, 1, 0),
    "replay for a missing key": ("CF.REPLAY", "missing", "a", 0, 1, 1, 0),
    "loadchunk into a finished filter": ("CF.LOADCHUNK", "k", 7, b"\x00" * 100),
}


@pytest.mark.parametrize("words", BAD_WORDS.values(), ids=BAD_WORDS)
def test_bad_arguments_change_nothing(client, words, resp2):
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(50))
    client.pexpire("k", 10_000_000)
    before = state(client, "k")
    reply = resp2.call(*words)
    assert reply.startswith(b"-"), reply
    after = state(client, "k")
    assert [after[n] for n in (0, 1, 3, 4)] == [before[n] for n in (0, 1, 3, 4)]


NO_CHANGE = {
    "addnx of an item that is there": ("CF.ADDNX", "k", "a"),
    "insertnx of items that are there": ("CF.INSERTNX", "k", "ITEMS", "a", "a"),
    "replay of an insert that was refused": ("CF.REPLAY", "k", "b", 0, 0, 9, 1 << 40),
    "replay of an item that is there": ("CF.REPLAY", "k", "a", 1, 1, 9, 1 << 40),
    "del of an item that is not there": ("CF.DEL", "k", "no such item"),
    "exists": ("CF.EXISTS", "k", "a"),
    "mexists": ("CF.MEXISTS", "k", "a", "b"),
    "count": ("CF.COUNT", "k", "a"),
    "info": ("CF.INFO", "k"),
    "scandump": ("CF.SCANDUMP", "k", 0),
    "reads of a missing key": ("CF.MEXISTS", "missing", "a"),
    "del of a missing key": ("CF.DEL", "missing", "a"),
    "info of a missing key": ("CF.INFO", "missing"),
}


@pytest.mark.parametrize("words", NO_CHANGE.values(), ids=NO_CHANGE)
def test_commands_without_effect_count_as_no_change(client, words, resp2):
    client.execute_command("CF.RESERVE", "k", 1000, "SEED", 7)
    client.execute_command("CF.ADD", "k", "a")
    before = state(client, "k", "missing")
    resp2.call(*words)
    assert state(client, "k", "missing") == before


def test_a_full_filter_is_not_changed_by_refused_items(client):
    client.execute_command("CF.RESERVE", "k", 16, "EXPANSION", 0, "SEED", 7)
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(2000))
    client.execute_command("CF.INSERT", "k", "ITEMS", *range(2000))
    before = state(client, "k")
    assert set(client.execute_command("CF.INSERT", "k", "ITEMS", *range(2000))) == {-1}
    assert state(client, "k") == before


def test_refusals_do_not_create_keys(client, resp2):
    before = state(client)
    for words in ON_A_KEY.values():
        creates = words[0].startswith(("CF.RESERVE", "CF.ADD", "CF.INSERT"))
        if not creates or "NOCREATE" in words:
            resp2.call(*words)
    assert state(client) == before
