"""Streams of the module whose fields are forged and whose checksums are right again.

The layout is that of `src/docs/snapshots.md`, behind a preamble of the module's own. Checksums are
no secret, so the module has to validate the fields as well.
"""

import struct

MASK = (1 << 64) - 1
SECRETS = [
    0x2D358DCCAA6C78A5,
    0x8BB84B93962EACC9,
    0x4B33A62ED433D4A3,
    0x4D5A2DA51DE1AA47,
    0xA0761D6478BD642F,
    0xE7037ED1A0B428DB,
    0x90ED1765281C388C,
]
PREAMBLE = 48
HEADER = 192
BLOCK = 64 << 10


def mix(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def rapidhash(seed, data):
    """Returns the rapidhash v3 of at least 8 bytes."""
    assert len(data) >= 8
    seed ^= mix(seed ^ SECRETS[2], SECRETS[1])
    word = lambda at: int.from_bytes(data[at : at + 8], "little")  # noqa: E731
    at, left = 0, len(data)
    if left <= 16:
        return finish((word(0) ^ SECRETS[1]) * (word(left - 8) ^ seed ^ left), left)
    if left > 112:
        lanes = [seed] * 7
        while left > 112:
            for n in range(7):
                lanes[n] = mix(word(at + 16 * n) ^ SECRETS[n], word(at + 16 * n + 8) ^ lanes[n])
            at, left = at + 112, left - 112
        seed = 0
        for lane in lanes:
            seed ^= lane
    # The secret of each further 16 bytes but the last.
    for number, secret in enumerate((2, 2, 1, 1, 2, 1)):
        if left > 16 * (number + 1):
            place = at + 16 * number
            seed = mix(word(place) ^ SECRETS[secret], word(place + 8) ^ seed)
    return finish((word(len(data) - 16) ^ left ^ SECRETS[1]) * (word(len(data) - 8) ^ seed), left)


def finish(product, left):
    low, high = product & MASK, product >> 64
    return mix(low ^ 0xAAAAAAAAAAAAAAAA, high ^ SECRETS[1] ^ left)


def packed(number):
    return struct.pack("<Q", number & MASK)


def repair(stream):
    """Returns the stream with checksums that fit its fields, as far as it has them."""
    stream = bytearray(stream)
    stream[PREAMBLE - 8 : PREAMBLE] = packed(rapidhash(0, bytes(stream[: PREAMBLE - 8])))
    snapshot = stream[PREAMBLE:]
    if len(snapshot) >= HEADER:
        snapshot[HEADER - 8 : HEADER] = packed(rapidhash(0, bytes(snapshot[: HEADER - 8])))
        seed = rapidhash(0, bytes(snapshot[:160]))
        end = HEADER + 8 * struct.unpack_from("<Q", snapshot, 152)[0]
        table = b""
        for number, at in enumerate(range(HEADER, min(end, len(snapshot)), BLOCK)):
            block = bytes(snapshot[at : min(at + BLOCK, end)])
            if len(block) >= 8:
                table += packed(rapidhash(seed + number & MASK, block))
        if table:
            table += packed(rapidhash(seed, table))
        if end < len(snapshot):
            snapshot[end:] = (table + bytes(snapshot[end + len(table) :]))[: len(snapshot) - end]
    return bytes(stream[:PREAMBLE] + snapshot)


def seal(stream):
    """Returns the only chunk of a stream."""
    return stream + packed(rapidhash(len(stream), stream))


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
        "split buckets": (snapshot + 96, 4),
        "level": (snapshot + 100, 4),
    }
    numbers = (
        *("seed", "hasher check", "capacity of the filter", "copies", "target rate", "window"),
        *("generation", "interval", "first buckets", "size", "largest number of buckets", "load"),
        *("ghosts", "swept", "end of the sweep", "ambiguous", "words", "occupied slots"),
        *("elapsed", "latest"),
    )
    fields |= {name: (snapshot + 24 + 8 * nth, 8) for nth, name in enumerate(numbers)}
    words = snapshot + HEADER
    for number in range(0, min(40, struct.unpack_from("<Q", stream, snapshot + 152)[0]), 3):
        fields[f"bucket {number}"] = (words + 8 * number, 8)
    nan, infinity = (struct.unpack("<Q", struct.pack("<d", x))[0] for x in (float("nan"), 1e400))
    for name, (at, size) in fields.items():
        whole = int.from_bytes(stream[at : at + size], "little")
        values = {0, 1, 2, 3, whole + 1, whole - 1, whole * 2, whole ^ 255, (1 << 8 * size) - 1}
        values |= {1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, nan, infinity}
        for value in sorted(value for value in values if 0 <= value < 1 << 8 * size):
            if value != whole:
                forged = stream[:at] + value.to_bytes(size, "little") + stream[at + size :]
                yield f"{name} {value:#x} instead of {whole:#x}", repair(forged)
