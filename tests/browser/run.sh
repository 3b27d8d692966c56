#!/bin/sh
# Drives the page, in Firefox or, a part of the tests, in Chromium: `run.sh firefox|walkthrough|opening|layout PAGE WORK_DIRECTORY`.
# data.sh has filled WORK_DIRECTORY; screenshots are left in WORK_DIRECTORY/shots.
set -eu
part=$1 page=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
PAGE=$(cd "$(dirname "$page")" && pwd)/$(basename "$page")
MNIST=$work/mnist SHARED=$work/shared.html ARCHIVE=$work/mnist.nanlens SECOND_ARCHIVE=$work/core.nanlens CJK=$work/cjk BIG=$work/big SHOTS=$work/shots PLAYWRIGHT_FROM=$work
GOLDEN=$(cd "$here/../interop/golden" && pwd)
export PAGE MNIST SHARED ARCHIVE SECOND_ARCHIVE CJK BIG SHOTS GOLDEN PLAYWRIGHT_FROM
# Layouts are tested in the whole browser; the rest in the part of it that shows pages, which takes a third less time.
[ "$part" = layout ] || export CHROMIUM="${CHROMIUM:-/usr/bin/chromium-headless-shell}"
export CHROMIUM_FLAGS=--js-flags=--liftoff-only # V8's second compiler takes longer over a page than a test does
if [ "$part" = firefox ]; then
  exec xvfb-run -a -s "-screen 0 1280x800x24" node "$here/firefox.mjs"
fi
exec node "$here/$part.mjs"
