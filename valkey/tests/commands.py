"""The commands of the module: what the server knows of each, and an example."""

from typing import NamedTuple


class Command(NamedTuple):
    arity: int  # words, the name counted; negative: at least so many
    flags: str
    words: tuple  # what follows the key in an example


COMMANDS = {
    "CF.RESERVE": Command(-3, "write denyoom", (100, "ERROR", "0.01")),
    "CF.ADD": Command(3, "write denyoom fast", ("a",)),
    "CF.ADDNX": Command(3, "write denyoom fast", ("a",)),
    "CF.INSERT": Command(-4, "write denyoom", ("ITEMS", "a", "b")),
    "CF.INSERTNX": Command(-4, "write denyoom", ("CAPACITY", 100, "ITEMS", "a", "b")),
    "CF.EXISTS": Command(3, "readonly fast", ("a",)),
    "CF.MEXISTS": Command(-3, "readonly fast", ("a", "b", "c")),
    "CF.DEL": Command(3, "write fast", ("a",)),
    "CF.COUNT": Command(3, "readonly fast", ("a",)),
    "CF.INFO": Command(-2, "readonly fast", ()),
    "CF.SCANDUMP": Command(3, "readonly", (0,)),
    "CF.LOADCHUNK": Command(4, "write denyoom", (1, b"data")),
    "CF.LOAD": Command(3, "write denyoom", (b"data",)),
    "CF.COMPACT": Command(2, "write", ()),
    "CF.REPLAY": Command(7, "write denyoom fast", ("a", 0, 1, 0, 0)),
}


def having(flag):
    """Returns the names of the commands with this flag."""
    return [name for name, command in COMMANDS.items() if flag in command.flags.split()]


def example(name, key="k"):
    """Returns the words of a call."""
    return (name, key, *COMMANDS[name].words)
