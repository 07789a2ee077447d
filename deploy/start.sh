#!/bin/sh
# Start Kamon in a container. numba reads compiled code only from a folder that it may write to, so
# the compiled engine is copied from the image (5 MiB) to the cache folder, which is in memory.
set -eu
mkdir -p "$XDG_CACHE_HOME"
cp -R /opt/kamon/cache/. "$XDG_CACHE_HOME/"
exec kamon "$@"
