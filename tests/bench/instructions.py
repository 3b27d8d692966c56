"""Counts the instructions of the hot paths and compares them with those on record: `instructions.py PROGRAM WORK_DIR`.

Instructions, unlike time, are the same from run to run, so that a slow-down is seen wherever the tests run. To renew the
record after a change that is meant: `instructions.py PROGRAM WORK_DIR --renew`.
"""
import json
import os
import re
import shutil
import subprocess
import sys

TOLERANCE = 1.10  # another patch release of the compiler or the C library moves a few instructions
RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")


def count(program, work):
    """Instructions by function, what it calls included."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    out = os.path.join(work, "callgrind.out")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, os.path.join(work, "logdir")],
                   check=True, stderr=subprocess.DEVNULL)
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    counts = {}
    for line in text.splitlines():
        m = re.match(r"\s*([\d,]+) .*::(hot_\w+)\(", line)
        if m:
            counts[m[2]] = max(counts.get(m[2], 0), int(m[1].replace(",", "")))
    return counts


def main():
    program, work = sys.argv[1:3]
    counts = count(program, work)
    if "--renew" in sys.argv:
        with open(RECORD, "w", encoding="utf-8") as f:
            json.dump(counts, f, indent=2, sort_keys=True)
            f.write("\n")
        return 0
    with open(RECORD, encoding="utf-8") as f:
        record = json.load(f)
    failed = sorted(set(record) ^ set(counts))
    for name in failed:
        print(f"{name}: on record {record.get(name)}, counted {counts.get(name)}")
    for name in sorted(set(record) & set(counts)):
        ratio = counts[name] / record[name]
        verdict = "too many" if ratio > TOLERANCE else "fewer: renew the record" if ratio < 1 / TOLERANCE else "ok"
        print(f"{name}: {counts[name]:,} instructions, {ratio:.3f} of those on record: {verdict}")
        if ratio > TOLERANCE:
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
