"""Streams of the module whose fields are forged and whose checksums are right again.

The layout is that of `src/docs/snapshots.md`, behind a preamble of the module's own. Checksums are
no secret, so the module has to validate the fields as well.
"""

import ctypes
import os
import struct

MASK = (1 << 64) - 1
PREAMBLE = 48
HEADER = 320
BLOCK = 64 << 10


def checksum(seed, data):
    """Returns the checksum of the module, of the build that is for tests."""
    function = ctypes.CDLL(os.environ["GUIRA_PANICKING_MODULE"]).guira_checksum
    function.argtypes = ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t
    function.restype = ctypes.c_uint64
    return function(seed, data, len(data))


def packed(number):
    return struct.pack("<Q", number & MASK)


def repair(stream):
    """Returns the stream with checksums that fit its fields, as far as it has them."""
    stream = bytearray(stream)
    stream[PREAMBLE - 8 : PREAMBLE] = packed(checksum(0, bytes(stream[: PREAMBLE - 8])))
    snapshot = stream[PREAMBLE:]
    if len(snapshot) >= HEADER:
        snapshot[HEADER - 8 : HEADER] = packed(checksum(0, bytes(snapshot[: HEADER - 8])))
        seed = checksum(0, bytes(snapshot[:168]))
        end = HEADER + 8 * struct.unpack_from("<Q", snapshot, 160)[0]
        table = b""
        for number, at in enumerate(range(HEADER, min(end, len(snapshot)), BLOCK)):
            block = bytes(snapshot[at : min(at + BLOCK, end)])
            table += packed(checksum(seed + number & MASK, block))
        if table:
            table += packed(checksum(seed, table))
        if end < len(snapshot):
            snapshot[end:] = (table + bytes(snapshot[end + len(table) :]))[: len(snapshot) - end]
    return bytes(stream[:PREAMBLE] + snapshot)


def seal(stream):
    """Returns the only chunk of a stream."""
    return stream + packed(checksum(len(stream), stream))


def forgeries(stream):
    """Yields streams of which one field is forged, with a description of each."""
    snapshot = PREAMBLE
    fields = {
        "version of the preamble": (8, 2),
        "bucket size": (10, 1),
        "zero byte": (11, 1),
        "iterations": (12, 2),
        "expansion": (14, 2),
        "capacity": (16, 8),
        "rate": (24, 8),
        "deleted": (32, 8),
        "format version": (snapshot + 8, 4),
        "length of the header": (snapshot + 12, 4),
        "contents": (snapshot + 16, 1),
        "growth": (snapshot + 17, 1),
        "stripes": (snapshot + 18, 2),
        "family": (snapshot + 20, 1),
        "slots": (snapshot + 21, 1),
        "bits": (snapshot + 22, 1),
        "values": (snapshot + 23, 1),
        "split buckets": (snapshot + 120, 4),
        "level": (snapshot + 124, 4),
    }
    numbers = (
        *("seed", *(f"hasher checks {nth}" for nth in range(4)), "capacity of the filter"),
        *("copies", "target rate", "window", "generation", "time to live", "first buckets"),
        *("size", "largest number of buckets", "load", "expected copies", "ghosts", "words"),
        *("occupied slots", "clean", "refreshed", "bound", "swept"),
        *("end of the sweep", *(f"time {nth}" for nth in range(7))),
    )
    fields |= {name: (snapshot + 24 + 8 * nth, 8) for nth, name in enumerate(numbers)}
    words = snapshot + HEADER
    for number in range(0, min(40, struct.unpack_from("<Q", stream, snapshot + 160)[0]), 3):
        fields[f"bucket {number}"] = (words + 8 * number, 8)
    nan, infinity = (struct.unpack("<Q", struct.pack("<d", x))[0] for x in (float("nan"), 1e400))
    for name, (at, size) in fields.items():
        whole = int.from_bytes(stream[at : at + size], "little")
        values = {0, 1, 2, 3, whole + 1, whole - 1, whole * 2, whole ^ 255, (1 << 8 * size) - 1}
        values |= {1 << 31, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63, nan, infinity}
        for value in sorted(value for value in values if 0 <= value < 1 << 8 * size):
            if value != whole:
                forged = stream[:at] + value.to_bytes(size, "little") + stream[at + size :]
                yield f"{name} {value:#x} instead of {whole:#x}", repair(forged)
