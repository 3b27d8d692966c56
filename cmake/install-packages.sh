#!/bin/sh
# Installs the Debian packages that are missing: `install-packages.sh PACKAGE...`. Needs root only if any is.
set -eu
missing=
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
  echo "these packages are needed:$missing" >&2
  echo "install them (apt-get install$missing) or run this as root" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
