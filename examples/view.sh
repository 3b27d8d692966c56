#!/bin/sh
# Builds the desktop viewer and the page, installing what is missing, and opens the walkthrough: in the desktop viewer
# where there is a display, else as a page, build/walkthrough.html.
set -eu
cd "$(dirname "$0")/.."
sh cmake/install-packages.sh g++ cmake ninja-build pkg-config libzstd-dev libeigen3-dev libcli11-dev nlohmann-json3-dev libprotobuf-dev \
  protobuf-compiler python3 libre2-dev libglfw3-dev libgl-dev libgl1-mesa-dri libfontconfig-dev libpng-dev fonts-droid-fallback
sh cmake/get-viewer-sources.sh
mkdir -p build
cmake --preset default -DNANLENS_BUILD_TESTS=OFF -DNANLENS_BUILD_VIEWER=ON -DCMAKE_UNITY_BUILD=ON >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
echo "building the command, the walkthrough and the desktop viewer: some minutes the first time"
cmake --build build --target nanlens-command mnist nanlens-viewer nanlens-sample >build/view.log 2>&1 || { tail -n 60 build/view.log; exit 1; }
echo "building the page"
sh wasm/build.sh
[ -d build/walkthrough ] || build/bin/mnist --dump_dir build/walkthrough --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
build/bin/nanlens share build/walkthrough -o build/walkthrough.html >/dev/null
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  echo "\$ build/bin/nanlens build/walkthrough"
  exec build/bin/nanlens build/walkthrough
fi
echo "there is no display; the walkthrough with the viewer in it, for a browser: $PWD/build/walkthrough.html"
