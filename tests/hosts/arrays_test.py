"""The arrays example says what its README says: `arrays_test.py NANLENS ARRAYS README`."""
import os
import re
import subprocess
import sys
import tempfile


def main():
    nanlens, arrays, readme = sys.argv[1:4]
    with open(readme, encoding="utf-8") as f:
        promised = re.findall(r"`([^`]*)`", f.read().split("\nprints ")[1])
    with tempfile.TemporaryDirectory() as logdir:
        printed = subprocess.run([arrays], env=dict(os.environ, NANLENS_LOGDIR=logdir), stdout=subprocess.PIPE, text=True, check=True)
        assert printed.stdout == promised[0] + "\n", printed.stdout
        why = subprocess.run([nanlens, "why", logdir], stdout=subprocess.PIPE, text=True, check=True)
    assert promised[1] in why.stdout, f"{promised[1]!r} is not in {why.stdout!r}"


if __name__ == "__main__":
    main()
