#!/bin/sh
# Puts Debian 13's Emscripten 3.1.69 beside a Debian 12 system: `get-emscripten.sh DIRECTORY` (default build/emscripten).
# Packages of Debian 13 are only unpacked into DIRECTORY; what is installed (clang, lld, llvm 19) is Debian 12's own.
# Prints the environment file to source. A finished DIRECTORY is used again. Other systems: emsdk >= 3.1.69.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "${1:-build/emscripten}"
to=$(cd "${1:-build/emscripten}" && pwd)
if [ -f "$to/env.sh" ]; then
  echo "$to/env.sh"
  exit 0
fi
sh cmake/install-packages.sh clang-19 lld-19 llvm-19 nodejs node-acorn python3 >&2

# A private apt state: the system's own lists and packages stay as they are.
apt=$to/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$to/debs" "$to/root" "$to/bin"
mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)*\([^ ]*\) .*/\2/p' | head -n 1)
if [ -z "$mirror" ]; then
  echo "no Debian mirror found in /etc/apt: can't fetch Emscripten; install emsdk >= 3.1.69 instead" >&2
  exit 1
fi
printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$mirror" >"$apt/trixie.sources"
options="-o Dir::Etc::sourcelist=$apt/trixie.sources -o Dir::Etc::sourceparts=- -o Dir::State::lists=$apt/lists \
  -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root -o Acquire::Languages=none"
# shellcheck disable=SC2086
apt-get $options update -qq >&2
(
  cd "$to/debs"
  # shellcheck disable=SC2086
  apt-get $options -qq download emscripten/trixie binaryen/trixie libc6/trixie libstdc++6/trixie libgcc-s1/trixie >&2
  for package in *.deb; do dpkg -x "$package" "$to/root"; done
)
rm -rf "$to/debs" "$apt"

# Binaryen needs Debian 13's C library, so each tool runs through the loader that came with it.
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
loader=$(find "$to/root/usr/lib64" "$to/root/usr/lib/$triplet" -name 'ld-linux-*' 2>/dev/null | head -n 1)
for tool in "$to"/root/usr/bin/wasm-*; do
  wrapper=$to/bin/$(basename "$tool")
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$to/root/usr/lib/$triplet" "$tool" >"$wrapper"
  chmod +x "$wrapper"
done
emscripten=$to/root/usr/share/emscripten
ln -sfn /usr/share/nodejs "$emscripten/node_modules" # acorn, for a node that does not look there
cat >"$to/config" <<CONFIG
LLVM_ROOT = '/usr/bin'
BINARYEN_ROOT = '$to'
NODE_JS = '$(command -v node)'
FROZEN_CACHE = True
CACHE = '$emscripten/cache'
LLVM_ADD_VERSION = '19'
CLANG_ADD_VERSION = '19'
CONFIG
printf 'export EM_CONFIG="%s/config"\nexport PATH="%s:$PATH"\n' "$to" "$emscripten" >"$to/env.sh"
echo "$to/env.sh"
