"""The cuckoo filter tests of redis-py 8.1, unchanged, synchronous and asynchronous."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from samples import configured

HERE = pathlib.Path(__file__).parent
TESTS = ["tests/test_bloom.py", "tests/test_asyncio/test_bloom.py"]
# Two tests, run once by the synchronous client and twice by the asynchronous one: with a single
# connection and with a pool.
EXPECTED = 6


@pytest.mark.parametrize("protocol", [2, 3])
def test_of_redis_py(server, protocol):
    sources = os.environ.get("GUIRA_REDIS_PY")
    if not sources:
        pytest.skip("GUIRA_REDIS_PY names no unpacked redis-py; `valkey/test` sets it")
    url = f"redis://127.0.0.1:{server.port}/0"
    command = [sys.executable, "-m", "pytest", "-p", "redis_py_plugin", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", "-k", "test_cf_", *TESTS, "-o", "addopts=", "-q"]
    command += ["--redis-url", url, "--redis-mod-url", url, "--protocol", str(protocol)]
    paths = os.pathsep.join([str(HERE), sources])
    environment = dict(os.environ, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1")
    # The tests leave the rate to the server. A low one keeps false positives out of them.
    with server.client() as client, configured(client, **{"guira.error-rate": "0.00005"}):
        pipe, merged = subprocess.PIPE, subprocess.STDOUT
        run = subprocess.run(command, cwd=sources, env=environment, stdout=pipe, stderr=merged)
    output = run.stdout.decode(errors="replace")
    assert run.returncode == 0, output[-4000:]
    assert re.search(rf"\b{EXPECTED} passed", output), output[-1000:]
    assert "failed" not in output and "skipped" not in output, output[-1000:]
