"""What DUMP returns for a module's value, taken apart and put together again, to forge it."""

import struct

MODULE = 7  # the type of a module's value in an RDB file, second form
UNSIGNED, DOUBLE, STRING, END = 2, 4, 5, 0
FOOTER = 10  # RDB version, two bytes, and checksum, eight bytes


def encode_length(number):
    if number < 1 << 6:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", 0x4000 | number)
    if number < 1 << 32:
        return b"\x80" + struct.pack(">I", number)
    return b"\x81" + struct.pack(">Q", number)


def decode_length(data, at):
    """Returns the number at this place and the place behind it."""
    form = data[at] >> 6
    if form == 0:
        return data[at] & 63, at + 1
    if form == 1:
        return struct.unpack_from(">H", data, at)[0] & 0x3FFF, at + 2
    if data[at] == 0x80:
        return struct.unpack_from(">I", data, at + 1)[0], at + 5
    assert data[at] == 0x81, "a compressed string: switch off rdbcompression"
    return struct.unpack_from(">Q", data, at + 1)[0], at + 9


def type_identity(name, version):
    """Returns the number by which a payload names a module's type."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    return number << 10 | version


def pack_value(identity, fields):
    """Returns the bytes of a module's value in an RDB file or payload."""
    parts = [bytes([MODULE]), b"\x81", struct.pack(">Q", identity)]
    for opcode, value in fields:
        parts.append(encode_length(opcode))
        if opcode == STRING:
            parts += [encode_length(len(value)), value]
        elif opcode == UNSIGNED:
            parts.append(encode_length(value))
        else:
            parts.append(value)
    return b"".join([*parts, encode_length(END)])


class Payload:
    """A module's value: the identity of its type and encoding, and the fields it wrote."""

    def __init__(self, dump):
        assert dump[0] == MODULE
        self.footer = dump[-FOOTER:]
        self.identity, at = decode_length(dump, 1)
        self.fields = []
        while True:
            opcode, at = decode_length(dump, at)
            if opcode == END:
                break
            if opcode == STRING:
                length, at = decode_length(dump, at)
                value, at = dump[at : at + length], at + length
            else:
                assert opcode == UNSIGNED
                value, at = decode_length(dump, at)
            self.fields.append((opcode, value))
        assert at == len(dump) - FOOTER
        assert self.pack() == dump

    def pack(self, fields=None, identity=None):
        """Returns the bytes, with other fields or another identity if given."""
        identity = self.identity if identity is None else identity
        return pack_value(identity, self.fields if fields is None else fields) + self.footer
