"""What recording MPI costs a small program, beside the same run without: `mpi_cost.py NANLENS [RANKS ROWS STEPS RUNS]`.

Prints the least seconds of several runs, taken in turn, and their ratio; and the same of one rank alone, where nobody waits.
"""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def seconds(words):
    result = subprocess.run(words, env=dict(os.environ, **ALLOWED), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(result.stdout.split()[0])


def main():
    nanlens = sys.argv[1]
    ranks, rows, steps, runs = [*map(int, sys.argv[2:6]), *(2, 256, 1000, 7)[len(sys.argv) - 2:]]
    with tempfile.TemporaryDirectory() as work:
        heat = os.path.join(work, "heat")
        subprocess.run(["mpicc", "-O2", os.path.join(here, "heat.c"), "-o", heat], check=True)
        for n in (ranks, 1):
            plain = ["mpirun", "-n", str(n), heat, str(rows), str(steps)]
            recorded = [nanlens, "run", "--logdir", os.path.join(work, "log"), "--", *plain]
            times = [(seconds(plain), seconds(recorded)) for _ in range(runs)]
            least = [min(column) for column in zip(*times)]
            print(f"{n} ranks, {steps} steps of {rows} x 1024: {least[0]:.3f} s, recorded {least[1]:.3f} s: {least[1] / least[0]:.3f}x")


if __name__ == "__main__":
    main()
