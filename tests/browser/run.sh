#!/bin/sh
# Drives the page in a headless Chromium: `run.sh PAGE NANLENS MNIST MAKE_LOGDIR WORK_DIRECTORY`. Screenshots are left in
# WORK_DIRECTORY/shots.
set -eu
page=$1 nanlens=$2 mnist=$3 make_logdir=$4 work=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work/shots"
if [ ! -d "$work/node_modules/playwright-core" ]; then
  # The last release that runs on Debian 12's node 18.
  (cd "$work" && npm install --no-save --no-audit --no-fund --prefix . playwright-core@1.56.1 >npm.log 2>&1) || {
    cat "$work/npm.log"
    exit 1
  }
fi
[ -d "$work/mnist" ] || "$mnist" --dump_dir "$work/mnist" --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
[ -f "$work/mnist.nanlens" ] || "$nanlens" pack "$work/mnist" -o "$work/mnist.nanlens" >/dev/null
[ -d "$work/cjk" ] || "$make_logdir" "$work/cjk" 20 10 7 cjk
[ -d "$work/big" ] || "$make_logdir" "$work/big" 140000 25 5001
PAGE=$page MNIST=$work/mnist ARCHIVE=$work/mnist.nanlens CJK=$work/cjk BIG=$work/big SHOTS=$work/shots \
  GOLDEN=$(cd "$here/../interop/golden" && pwd) PLAYWRIGHT_FROM=$work node "$here/walkthrough.mjs"
