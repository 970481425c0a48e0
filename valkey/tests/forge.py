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
BLOCK = 64 << 10
GROWING = 1


def mix(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def rapidhash(seed, data):
    """Returns the rapidhash v3 of more than 16 bytes."""
    assert len(data) > 16
    seed ^= mix(seed ^ SECRETS[2], SECRETS[1])
    word = lambda at: int.from_bytes(data[at : at + 8], "little")  # noqa: E731
    at, left = 0, len(data)
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
    product = (word(len(data) - 16) ^ left ^ SECRETS[1]) * (word(len(data) - 8) ^ seed)
    low, high = product & MASK, product >> 64
    return mix(low ^ 0xAAAAAAAAAAAAAAAA, high ^ SECRETS[1] ^ left)


def packed(number):
    return struct.pack("<Q", number & MASK)


def grown_bytes(snapshot):
    """Bytes of the header that say how a filter has grown."""
    return 40 if snapshot[12] == GROWING else 0


def repair(stream):
    """Returns the stream with checksums that fit its fields, as far as it has them."""
    stream = bytearray(stream)
    stream[PREAMBLE - 8 : PREAMBLE] = packed(rapidhash(0, bytes(stream[: PREAMBLE - 8])))
    snapshot = stream[PREAMBLE:]
    planned, existing = snapshot[13], snapshot[14]
    items = 56 + 16 * planned
    header = items + 8 * existing + grown_bytes(snapshot) + 8
    if header + 8 >= len(snapshot):
        return bytes(stream)
    snapshot[header - 8 : header] = packed(rapidhash(0, bytes(snapshot[: header - 8])))
    chain = rapidhash(0, bytes(snapshot[:items]))
    at = header
    for segment in range(existing):
        if at >= len(snapshot):
            break
        words = struct.unpack_from("<Q", snapshot, 56 + 16 * segment + 8)[0]
        left = 8 * words
        while left > 0 and at < len(snapshot):
            size = min(left, BLOCK, len(snapshot) - at - 8)
            if size <= 16:
                return bytes(stream[:PREAMBLE] + snapshot)
            chain = rapidhash(chain, bytes(snapshot[at : at + size]))
            snapshot[at + size : at + size + 8] = packed(chain)
            at, left = at + size + 8, left - size
    return bytes(stream[:PREAMBLE] + snapshot)


def seal(stream):
    """Returns the only chunk of a stream."""
    return stream + packed(rapidhash(len(stream), stream))


def forgeries(stream):
    """Yields streams of which one field is forged, with a description of each."""
    snapshot = PREAMBLE
    planned, existing = stream[snapshot + 13], stream[snapshot + 14]
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
        "kind": (snapshot + 12, 1),
        "planned segments": (snapshot + 13, 1),
        "existing segments": (snapshot + 14, 1),
        "stripes": (snapshot + 15, 1),
        "seed": (snapshot + 16, 8),
        "hasher check": (snapshot + 24, 8),
        "capacity of the segment": (snapshot + 32, 8),
        "copies": (snapshot + 40, 8),
        "target rate": (snapshot + 48, 8),
    }
    for segment in range(planned):
        at = snapshot + 56 + 16 * segment
        for name, place in (("family", 0), ("slots", 1), ("bits", 2), ("level", 3), ("values", 4)):
            fields[f"{name} {segment}"] = (at + place, 1)
        fields[f"zeros {segment}"] = (at + 5, 3)
        fields[f"buckets {segment}"] = (at + 8, 8)
    for segment in range(existing):
        fields[f"items {segment}"] = (snapshot + 56 + 16 * planned + 8 * segment, 8)
    grown = snapshot + 56 + 16 * planned + 8 * existing
    if stream[snapshot + 12] == GROWING:
        names = ("first buckets", "size", "ghosts", "largest number of buckets", "load")
        fields |= {name: (grown + 8 * number, 8) for number, name in enumerate(names)}
        fields |= {"split buckets": (grown + 8, 4), "level": (grown + 12, 4)}
    words = grown + grown_bytes(stream[snapshot:]) + 8
    for number in range(0, min(40, (len(stream) - words) // 8 - 1), 3):
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
