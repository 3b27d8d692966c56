#!/bin/sh
# Makes what the page is tested with, and installs what drives browsers: `data.sh NANLENS MNIST MAKE_LOGDIR PAGE WORK_DIRECTORY`.
set -eu
nanlens=$1 mnist=$2 make_logdir=$3 page=$4 work=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work/shots"
if [ ! -d "$work/node_modules/puppeteer-core" ]; then
  # Releases that run on Debian 12's node 18.
  (cd "$work" && npm install --no-save --no-audit --no-fund --prefix . playwright-core@1.56.1 puppeteer-core@24.10.0 >npm.log 2>&1) || {
    cat "$work/npm.log"
    exit 1
  }
fi
rm -rf "$work/mnist" "$work/mnist.nanlens" "$work/core.nanlens" # made anew: by this build
"$mnist" --dump_dir "$work/mnist" --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
"$nanlens" pack "$work/mnist" -o "$work/mnist.nanlens" >/dev/null
"$nanlens" pack "$here/../interop/golden/core.FULL_HEALTH" -o "$work/core.nanlens" >/dev/null
"$nanlens" share "$work/mnist" --page "$page" --view 't=148&q=type:Log bad' -o "$work/shared.html" >/dev/null
[ -d "$work/cjk" ] || "$make_logdir" "$work/cjk" 20 10 7 cjk
[ -d "$work/big" ] || "$make_logdir" "$work/big" 140000 25 5001
