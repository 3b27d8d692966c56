#!/bin/sh
# Drives the page: `run.sh chromium|firefox PAGE NANLENS MNIST MAKE_LOGDIR WORK_DIRECTORY`. Screenshots are left in
# WORK_DIRECTORY/shots.
set -eu
browser=$1 page=$2 nanlens=$3 mnist=$4 make_logdir=$5 work=$6
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work/shots"
if [ ! -d "$work/node_modules/puppeteer-core" ]; then
  # Releases that run on Debian 12's node 18.
  (cd "$work" && npm install --no-save --no-audit --no-fund --prefix . playwright-core@1.56.1 puppeteer-core@24.10.0 >npm.log 2>&1) || {
    cat "$work/npm.log"
    exit 1
  }
fi
rm -rf "$work/mnist" "$work/mnist.nanlens"  # recorded anew: by this build
"$mnist" --dump_dir "$work/mnist" --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
"$nanlens" pack "$work/mnist" -o "$work/mnist.nanlens" >/dev/null
rm -f "$work/core.nanlens"
"$nanlens" pack "$here/../interop/golden/core.FULL_HEALTH" -o "$work/core.nanlens" >/dev/null
PAGE=$(cd "$(dirname "$page")" && pwd)/$(basename "$page")
MNIST=$work/mnist ARCHIVE=$work/mnist.nanlens SECOND_ARCHIVE=$work/core.nanlens CJK=$work/cjk BIG=$work/big SHOTS=$work/shots PLAYWRIGHT_FROM=$work
GOLDEN=$(cd "$here/../interop/golden" && pwd)
export PAGE MNIST ARCHIVE SECOND_ARCHIVE CJK BIG SHOTS GOLDEN PLAYWRIGHT_FROM
if [ "$browser" = firefox ]; then
  exec xvfb-run -a -s "-screen 0 1280x800x24" node "$here/firefox.mjs"
fi
[ -d "$CJK" ] || "$make_logdir" "$CJK" 20 10 7 cjk
[ -d "$BIG" ] || "$make_logdir" "$BIG" 140000 25 5001
code=0
for part in walkthrough opening layout; do node "$here/$part.mjs" || code=1; done
exit $code
