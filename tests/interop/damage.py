"""Damages copies of logdirs and checks that `nanlens` neither fails nor loses an intact record.

`damage.py NANLENS LOGDIR...`: per logdir, bits are flipped in and bytes are cut off every file, with a fixed seed.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile


def records(data):
    """Start and end of every record of an intact file."""
    at, found = 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        found.append((at, at + 16 + length))
        at += 16 + length
    return found


def count(nanlens, logdir):
    out = subprocess.run([nanlens, "dump", logdir, "--what", "runs"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out.splitlines()[0])


def main():
    nanlens, logdirs = sys.argv[1], sys.argv[2:]
    rng = random.Random(4)
    trials = 0
    for logdir in logdirs:
        whole = count(nanlens, logdir)
        for name in sorted(os.listdir(logdir)):
            kind = name.rsplit(".", 1)[1]
            with open(os.path.join(logdir, name), "rb") as f:
                data = f.read()
            if not data or kind == "metadata":
                continue
            spans = records(data)
            for trial in range(4):
                copy = tempfile.mkdtemp()
                try:
                    for other in os.listdir(logdir):
                        shutil.copy(os.path.join(logdir, other), copy)
                    bad = bytearray(data)
                    if trial == 0:
                        keep = rng.randrange(len(data))
                        del bad[keep:]
                        lost = sum(end > keep for _, end in spans)
                    else:
                        hit = [rng.randrange(len(data)) for _ in range(trial)]
                        for at in hit:
                            bad[at] ^= 1 << rng.randrange(8)
                        lost = sum(any(start <= at < end for at in hit) for start, end in spans)
                    with open(os.path.join(copy, name), "wb") as f:
                        f.write(bad)
                    now = count(nanlens, copy)
                    trials += 1
                    at_end = trial == 0 and any(end == keep for _, end in spans) or not lost
                    assert now["diagnostics"] or at_end, (name, "damage without a diagnostic")
                    for field, file_kind in (("num_traces", "graph_execution_traces"), ("num_executions", "execution")):
                        allowed = lost if kind == file_kind else 0
                        assert whole[field] - allowed <= now[field] <= whole[field], (name, trial, field, now[field], whole[field], lost)
                    for what in ("ops", "traces", "executions", "alerts", "source_files", "stack_frames"):
                        subprocess.run([nanlens, "dump", copy, "--what", what], stdout=subprocess.DEVNULL, check=True)
                    subprocess.run([nanlens, "report", copy], stdout=subprocess.DEVNULL, check=True)
                finally:
                    shutil.rmtree(copy)
    print(f"{trials} damaged copies read: no crash, no intact record lost")


if __name__ == "__main__":
    main()
