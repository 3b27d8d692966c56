#!/bin/sh
# The programs of tests/hosts/torch on the newest PyTorch wheel, through `nanlens run`: torch-wheel.sh [NAME…]; and, where none is
# named, those of several ranks. Not for every day: the wheel is large. Environment: PYTHON, one that has wheels (python3);
# NANLENS, the command (build/bin/nanlens); TORCH, what pip gets (torch; "torch==2.5.1", say); pip's own variables choose where from.
# A wheel built for CUDA wants its libraries, though on a CPU nothing of them runs: two are installed, the others are stubs.
set -eu
cd "$(dirname "$0")/../.."
nanlens=${NANLENS:-$PWD/build/bin/nanlens}
base=${PYTHON:-python3}
work=build/torch-wheel/$("$base" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python=$PWD/$work/venv/bin/python3
[ -x "$python" ] || "$base" -m venv "$work/venv"
"$python" -m pip install --quiet --upgrade --no-deps "${TORCH:-torch}" nvidia-cuda-cupti nvidia-cuda-runtime
"$python" -m pip install --quiet typing_extensions filelock sympy networkx jinja2 fsspec numpy 'setuptools<82'
"$python" tests/hosts/torch/stub_missing.py "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
"$python" -c 'import sys, torch; print("PyTorch", torch.__version__, "Python", sys.version)'

out=$work/logdirs
rm -rf "$out"
mkdir -p "$out"
with_ranks=
if [ $# = 0 ]; then
  with_ranks=yes
  set -- $("$python" -c 'import sys; sys.path.insert(0, "tests/hosts/torch"); import programs; print(*programs.PROGRAMS)')
fi
for name in "$@"; do
  "$nanlens" run --logdir "$out/$name" -- "$python" -W ignore tests/hosts/torch/programs.py --here "$name" >"$out/$name.log" 2>&1 ||
    { echo "$name failed:"; tail -n 20 "$out/$name.log"; }
done
"$python" tests/hosts/torch/score.py "$nanlens" "$out" "$@"
[ -n "$with_ranks" ] || exit 0
out=$work/ranks
rm -rf "$out"
mkdir -p "$out"
library=$("$python" -c 'import torch; print(torch.__path__[0] + "/lib/libtorch_cpu.so")')
names=$("$python" tests/hosts/torch/ranks.py --names)
"$python" tests/hosts/torch/ranks.py "$("$nanlens" adapter torch "$library")" "$out"
# shellcheck disable=SC2086
exec "$python" tests/hosts/torch/score_ranks.py "$nanlens" "$out" $names
