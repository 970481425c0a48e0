"""A cluster of real servers, formed by CLUSTER commands, with both ways to move slots."""

import itertools
import time

import redis

from servers import HOST, Server, free_ports, wait_until

SLOTS = 16384
NODE_TIMEOUT_MS = 2000


def slot_of(key):
    return redis.crc.key_slot(key.encode(), SLOTS)


def key_in_slot(slot, prefix="key"):
    """Returns a key name whose hash slot is `slot`."""
    names = (f"{prefix}:{number}" for number in itertools.count())
    return next(name for name in names if slot_of(name) == slot)


class Cluster:
    """`primaries` servers that share the slots evenly, and `replicas` servers that follow them."""

    def __init__(self, kind, module, folder, primaries, replicas, options):
        ports = free_ports(2 * (primaries + replicas))
        self.primaries = primaries
        self.servers = []
        for number in range(primaries + replicas):
            own = {
                "cluster-enabled": "yes",
                "cluster-node-timeout": str(NODE_TIMEOUT_MS),
                "cluster-port": str(ports[2 * number + 1]),
                "cluster-require-full-coverage": "no",
                "cluster-replica-validity-factor": "0",
            }
            server = Server(kind, module, folder / str(number), dict(own, **options))
            server.port = ports[2 * number]
            self.servers.append(server)

    def start(self):
        for server in self.servers:
            server.start(ready=False)
        for server in self.servers:
            server.wait_ready()
        self.ids = [self.call(server, "MYID").decode() for server in self.servers]
        share = SLOTS // self.primaries
        for number, server in enumerate(self.servers[: self.primaries]):
            last = SLOTS - 1 if number == self.primaries - 1 else (number + 1) * share - 1
            self.call(server, "ADDSLOTSRANGE", number * share, last)
            self.call(server, "SET-CONFIG-EPOCH", number + 1)
        for server in self.servers[1:]:
            port = server.options["cluster-port"]
            self.call(self.servers[0], "MEET", HOST, server.port, port)
        wait_until(self._all_known, 30, what="every node knowing every other")
        for number, server in enumerate(self.servers[self.primaries :]):
            primary = self.ids[number % self.primaries]
            self.call(server, "REPLICATE", primary)
        wait_until(self.healthy, 60, what="the cluster being healthy")

    def call(self, server, *words):
        with server.client() as client:
            return client.execute_command("CLUSTER " + str(words[0]), *words[1:])

    def _all_known(self):
        count = str(len(self.servers))
        infos = [self.call(server, "INFO") for server in self.servers]
        return all(info["cluster_known_nodes"] == count for info in infos)

    def healthy(self):
        """Every node sees all slots served, and every replica is connected."""
        for server in self.servers:
            if not server.alive():
                continue
            if self.call(server, "INFO")["cluster_state"] != "ok":
                return False
            replication = server.info("replication")
            if replication["role"] == "slave" and replication["master_link_status"] != "up":
                return False
        return True

    def client(self):
        startup = [redis.cluster.ClusterNode(HOST, s.port) for s in self.servers if s.alive()]
        retry = redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 100)
        return redis.RedisCluster(
            startup_nodes=startup, socket_timeout=20, protocol=2, retry=retry
        )

    def owner(self, slot):
        """Returns the server that serves `slot`, by its own account."""
        for server in self.servers:
            if not server.alive() or server.role() != "master":
                continue
            with server.wire() as wire:
                ranges = wire.call("CLUSTER", "SLOTS", decode=True)
            for first, last, primary, *_ in ranges:
                if first <= slot <= last and primary[1] == server.port:
                    return server
        raise LookupError(f"no live server owns slot {slot}")

    def id(self, server):
        return self.ids[self.servers.index(server)]

    def replicas_of(self, server):
        port = server.port
        found = []
        for other in self.servers:
            if other.alive() and other is not server:
                replication = other.info("replication")
                if replication["role"] == "slave" and replication["master_port"] == port:
                    found.append(other)
        return found

    def fail_over(self, primary, serve_alone=False):
        """Kills a primary until a replica has taken over, and starts it again."""
        heir = self.replicas_of(primary)[0]
        primary.kill()
        wait_until(lambda: heir.role() == "master", 40, what="the replica taking over")
        if serve_alone:
            wait_until(self.healthy, 40, what="the cluster being healthy")
            time.sleep(0.5)
        primary.start()
        wait_until(lambda: primary.role() == "slave", 40, what="the old primary following")
        wait_until(self.healthy, 40, what="the cluster being healthy")

    def migrate_key_by_key(self, slot, target):
        """Moves `slot` to `target` by MIGRATE, as resharding tools do."""
        source = self.owner(slot)
        self.call(target, "SETSLOT", slot, "IMPORTING", self.id(source))
        self.call(source, "SETSLOT", slot, "MIGRATING", self.id(target))
        moved = 0
        with source.client() as client:
            while keys := self.call(source, "GETKEYSINSLOT", slot, 10):
                reply = client.execute_command(
                    "MIGRATE", HOST, target.port, "", 0, 20000, "REPLACE", "KEYS", *keys
                )
                assert reply == b"OK", reply
                moved += len(keys)
        for server in (target, source):
            self.call(server, "SETSLOT", slot, "NODE", self.id(target))
        for server in self.servers:
            if server.alive() and server.role() == "master":
                self.call(server, "SETSLOT", slot, "NODE", self.id(target))
        return moved

    def migrate_slots(self, first, last, target, seconds=60):
        """Moves slots to `target` by Valkey's atomic slot migration, and returns its record."""
        source = self.owner(first)
        self.call(source, "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", self.id(target))

        def finished():
            with source.wire() as wire:
                jobs = wire.call("CLUSTER", "GETSLOTMIGRATIONS", decode=True)
            jobs = [dict(zip(job[::2], job[1::2])) for job in jobs]
            job = next(j for j in jobs if j[b"slot_ranges"] == b"%d-%d" % (first, last))
            assert job[b"state"] not in (b"failed", b"canceled", b"cancelled"), job
            return job if job[b"state"] == b"success" else None

        return wait_until(finished, seconds, what="the slot migration")

    def end(self):
        for server in self.servers:
            server.kill()
        for server in self.servers:
            server.check_log()
