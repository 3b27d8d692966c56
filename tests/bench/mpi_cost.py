"""What recording MPI costs a small program, beside the same run without: `mpi_cost.py NANLENS [RANKS ROWS STEPS RUNS]`.

Prints a JSON object for each number of ranks: the least seconds of several runs, taken in turn, and the least that the processors
spent; of the whole loop and of its last four fifths, when the symbols of the program have been read. Ranks that wait for each other
spin: of one rank alone, what the processors spent is its own work.
"""
import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def seconds(words):
    result = subprocess.run(words, env=dict(os.environ, **ALLOWED), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [float(word) for word in result.stdout.split()[:4]]


def main():
    nanlens = sys.argv[1]
    ranks, rows, steps, runs = [*map(int, sys.argv[2:6]), *(2, 256, 5000, 5)[len(sys.argv) - 2:]]
    with tempfile.TemporaryDirectory() as work:
        heat = os.path.join(work, "heat")
        subprocess.run(["mpicc", "-O2", os.path.join(here, "heat.c"), "-o", heat], check=True)
        for n in (ranks, 1):
            plain = ["mpirun", "-n", str(n), heat, str(rows), str(steps)]
            recorded = [nanlens, "run", "--logdir", os.path.join(work, "log"), "--", *plain]
            times = [seconds(plain) + seconds(recorded) for _ in range(runs)]
            names = [f"{way}_{part}" for way in ("plain", "recorded") for part in ("s", "cpu_s", "later_s", "later_cpu_s")]
            least = dict(zip(names, map(min, zip(*times))))
            print(json.dumps({"ranks": n, "steps": steps, "rows": rows, **least}), flush=True)


if __name__ == "__main__":
    main()
