#!/bin/sh
# Fetches the sources of Dear ImGui, zstd and RE2 from the package registries that carry them, into build/deps. Prints
# nothing if they are there already. Needs cargo >= 1.85 (Debian 12: the package cargo-web) and npm; CMake checks the
# files' SHA256.
set -eu
cd "$(dirname "$0")/.."
to=build/deps
[ -f "$to/done-2" ] && exit 0
new_enough() { [ "$("$1" --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')" -ge 85 ] 2>/dev/null; }
if ! new_enough cargo; then
  release=$(sed -n 's/^VERSION_ID="\{0,1\}\([0-9]*\).*/\1/p' /etc/os-release)
  if [ "$release" = 12 ]; then package=cargo-web; else package=cargo; fi
  sh cmake/install-packages.sh $package
fi
rm -rf "$to"
mkdir -p "$to/pins"
cat >"$to/pins/Cargo.toml" <<'PINS'
[package]
name = "pins"
version = "0.0.0"
edition = "2021"
publish = false
[lib]
path = "lib.rs"
[dependencies]
dear-imgui-sys = { version = "=0.20.0", default-features = false } # Dear ImGui v1.92.9b-docking
zstd-sys = { version = "=2.1.2", default-features = false }        # zstd 1.5.7
PINS
: >"$to/pins/lib.rs"
cargo vendor --quiet --manifest-path "$to/pins/Cargo.toml" --versioned-dirs "$to/crates" >/dev/null
ln -s crates/dear-imgui-sys-0.20.0/third-party/cimgui/imgui "$to/imgui"
ln -s "crates/zstd-sys-2.1.2+zstd.1.5.7/zstd" "$to/zstd"

# The npm package re2 holds RE2 2022-06-01 as it is. Its tarball is only unpacked: nothing of it is installed or run.
command -v npm >/dev/null || sh cmake/install-packages.sh npm
(cd "$to" && npm pack --silent re2@1.18.0 >/dev/null)
echo "602ada3d84858e096b8c02fe2fd66e41dfe6144ddfce030be95d39a807864c0e  $to/re2-1.18.0.tgz" | sha256sum --check --quiet
tar -xzf "$to/re2-1.18.0.tgz" -C "$to" package/vendor
mv "$to/package/vendor" "$to/re2"
rmdir "$to/package"
rm "$to/re2-1.18.0.tgz"
touch "$to/done-2"
