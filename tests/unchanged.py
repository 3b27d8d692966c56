"""Runs a command unless it passed before with the same inputs: `unchanged.py STAMP INPUT... -- COMMAND...`.

An input is a file, or a directory with all that is in it. Unless NANLENS_SKIP_UNCHANGED is set, the command runs in any case.
"""
import hashlib
import os
import resource
import subprocess
import sys


def files_of(path):
    if not os.path.isdir(path):
        yield path
    for directory, below, names in os.walk(path):
        below[:] = [d for d in below if d != "__pycache__"]
        for name in names:
            yield os.path.join(directory, name)


def digest(inputs, command):
    total = hashlib.blake2b("\0".join(command).encode())
    for path in sorted(f for i in inputs for f in files_of(i)):
        total.update(path.encode() + b"\0")
        with open(path, "rb") as f:
            total.update(hashlib.blake2b(f.read()).digest())
    return total.hexdigest()


def note_time(stamp):
    """Adds the processors' seconds to the file that NANLENS_TIMES names, if it does."""
    path = os.environ.get("NANLENS_TIMES")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if path:
        tree = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(stamp))))
        with open(path, "a", encoding="utf-8") as f:
            f.write(f"{used.ru_utime + used.ru_stime:.0f} test {os.path.basename(stamp)} ({tree})\n")


def main():
    split = sys.argv.index("--")
    stamp, inputs, command = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
    now = digest(inputs, command)
    if os.environ.get("NANLENS_SKIP_UNCHANGED") and os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as f:
            if f.read() == now:
                print("unchanged since it passed")
                return 0
    if os.path.exists(stamp):
        os.remove(stamp)
    code = subprocess.run(command, check=False).returncode
    note_time(stamp)
    if code == 0:
        os.makedirs(os.path.dirname(os.path.abspath(stamp)), exist_ok=True)
        with open(stamp, "w", encoding="utf-8") as f:
            f.write(now)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
