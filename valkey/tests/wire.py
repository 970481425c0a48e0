"""A connection that shows replies as the bytes that the server sent."""

import socket


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
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"".join(parts))

    def receive(self):
        line = self._line()
        kind, rest = line[:1], line[1:-2]
        if kind in b"*~>":
            return line + b"".join(self.receive() for _ in range(max(int(rest), 0)))
        if kind == b"%":
            return line + b"".join(self.receive() for _ in range(2 * int(rest)))
        if kind in b"$=!" and int(rest) >= 0:
            return line + self._take(int(rest) + 2)
        return line

    def call(self, *words):
        """Sends one command and returns its whole reply, undecoded."""
        self.send(*words)
        return self.receive()

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

    def _take(self, count):
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken
