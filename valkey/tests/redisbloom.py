"""Files with filters of RedisBloom, forged from its formats."""

import struct

from payloads import DOUBLE, STRING, UNSIGNED, encode_length, pack_value, type_identity

BUCKETS, BUCKET_SIZE = 512, 2
FINGERPRINTS = bytes(range(256)) * (BUCKETS * BUCKET_SIZE // 256)
# Items, buckets, deletions, and filters; bucket size, iterations, and expansion.
HEADER = struct.pack("<4Q3H", 1000, BUCKETS, 0, 1, BUCKET_SIZE, 20, 1)
# Filters, buckets, items, deletions, bucket size, iterations, expansion; buckets and content.
CUCKOO = [(UNSIGNED, n) for n in (1, BUCKETS, 1000, 0, BUCKET_SIZE, 20, 1, BUCKETS)]
CUCKOO = pack_value(type_identity("MBbloomCF", 4), [*CUCKOO, (STRING, FINGERPRINTS)])
# Items, filters, options, growth; capacity, rate, hashes, bits per item, bits, their logarithm,
# content, and items.
BLOOM = [(UNSIGNED, n) for n in (0, 1, 4, 2, 100)]
BLOOM += [(DOUBLE, struct.pack("<d", 0.01)), (UNSIGNED, 7), (DOUBLE, struct.pack("<d", 9.6))]
BLOOM += [(UNSIGNED, 1024), (UNSIGNED, 10), (STRING, bytes(128)), (UNSIGNED, 0)]
BLOOM = pack_value(type_identity("MBbloom--", 4), BLOOM)


def rdb(values):
    """Returns an RDB file with these values, without a checksum."""
    parts = [b"REDIS0009", b"\xfe\x00"]
    for key, value in values.items():
        parts += [value[:1], encode_length(len(key)), key.encode(), value[1:]]
    return b"".join([*parts, b"\xff", bytes(8)])


def dump(key):
    """Returns the commands that RedisBloom writes to an AOF for a filter."""
    content = ("CF.LOADCHUNK", key, len(FINGERPRINTS) + 1, FINGERPRINTS)
    return ("CF.LOADCHUNK", key, 1, HEADER), content
