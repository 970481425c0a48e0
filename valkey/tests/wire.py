"""A connection that shows replies as the bytes that the server sent."""

import socket


def encode(words):
    """Returns a command as clients send it, and as it is in an AOF."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


class Wire:
    """Speaks RESP2 or RESP3 without a client library, so that types on the wire can be compared."""

    def __init__(self, host, port, protocol=2):
        self.socket = socket.create_connection((host, port), timeout=60)
        self.buffer = b""
        if protocol == 3:
            self.call("HELLO", "3")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(encode(words))

    def receive(self, decode=False):
        """Returns the next reply as it came, or decoded: arrays, integers, and strings."""
        line = self._line()
        kind, rest = line[:1], line[1:-2]
        if kind in b"*~>%":
            count = max(int(rest), 0) * (2 if kind == b"%" else 1)
            parts = [self.receive(decode) for _ in range(count)]
            return parts if decode else line + b"".join(parts)
        if kind in b"$=!" and int(rest) >= 0:
            text = self.take(int(rest) + 2)
            return text[:-2] if decode else line + text
        if not decode:
            return line
        assert kind != b"-", rest
        return int(rest) if kind == b":" else None if kind == b"$" else rest

    def call(self, *words, decode=False):
        """Sends one command and returns its whole reply."""
        self.send(*words)
        return self.receive(decode)

    def _fill(self):
        chunk = self.socket.recv(1 << 16)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self.buffer += chunk

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._fill()
        end = self.buffer.index(b"\r\n") + 2
        line, self.buffer = self.buffer[:end], self.buffer[end:]
        return line

    def take(self, count):
        """Returns the next bytes, so many."""
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken
