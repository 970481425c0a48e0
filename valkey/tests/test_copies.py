"""Copies by chunks, by payloads, and by COPY: equal to the original, and independent of it."""

import pytest

from samples import assert_held, chunks, load_chunks, populate, settings

WAYS = {
    "chunks": lambda client, key, copy: load_chunks(client, copy, chunks(client, key)),
    "payload": lambda client, key, copy: client.restore(copy, 0, client.dump(key)),
    "COPY": lambda client, key, copy: client.copy(key, copy),
}


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_shape(server, way, protocol):
    with server.client(protocol) as client:
        held = populate(client)
        client.persist("sample:expires")  # the time to live is a part of the digest
        copies = {key: "copy:" + key for key in held}
        for key, copy in copies.items():
            way(client, key, copy)
            assert server.digest(copy) == server.digest(key), key
            assert settings(client, copy) == settings(client, key)
        assert_held(client, {copies[key]: items for key, items in held.items()})
        sizes = [client.memory_usage(key) for key in ("sample:defaults", "copy:sample:defaults")]
        assert max(sizes) <= 1.02 * min(sizes), sizes
        # They go on in the same way.
        for key, copy in copies.items():
            gone = held[key].pop() if held[key] else 10_000
            for one in (key, copy):
                client.execute_command("CF.INSERT", one, "ITEMS", *range(10_000, 13_000))
                assert client.execute_command("CF.DEL", one, gone) == 1
            assert client.dump(key)[:-8] == client.dump(copy)[:-8]
        before = server.digest(*held)
        for key, copy in copies.items():
            assert client.execute_command("CF.DEL", copy, *(held[key] or [10_001])[:1]) == 1
            assert server.digest(copy) != server.digest(key)
            client.execute_command("UNLINK", copy)
        assert server.digest(*held) == before
        assert_held(client, held)
