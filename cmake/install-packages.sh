#!/bin/sh
# Installs the Debian packages that are missing: `install-packages.sh PACKAGE...`. Needs root only if any is.
# Waits up to 5 minutes (NANLENS_APT_WAIT seconds) for another apt to end, and shows the output of what failed.
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
log=$(mktemp)
trap 'rm -f "$log"' EXIT
wait=${NANLENS_APT_WAIT:-300}
until=$(($(date +%s) + wait))
# DPkg::Lock::Timeout does not cover the lock of the package lists, nor that of the archives: those fail at once.
patient() {
  while ! LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout="$wait" "$@" >"$log" 2>&1; do
    if grep -qE "Could not get lock|Unable to (acquire|lock)" "$log" && [ "$(date +%s)" -lt "$until" ]; then
      sleep 2
      continue
    fi
    tail -n 60 "$log" >&2
    echo "failed: apt-get $*" >&2
    exit 1
  done
}
# Lists of the last minutes will do, if all that is missing is in them.
listed() {
  # shellcheck disable=SC2086
  [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -cmin -20 2>/dev/null)" ] &&
    apt-get install -qq --simulate --no-install-recommends $missing >/dev/null 2>&1
}
listed || patient update -qq
# shellcheck disable=SC2086
patient install -y -qq --no-install-recommends $missing
