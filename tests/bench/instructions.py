"""Counts the instructions of the hot paths and compares them with those on record: `instructions.py COMPILER WORK_DIR LIBRARIES`.

Instructions, unlike time, are the same from run to run, so that a slow-down is seen wherever the tests run. The record is
that of g++ 12 -O2, with LIBRARIES that hold the recorder and the reader. To renew it after a change that is meant:
`instructions.py g++ WORK_DIR LIBRARIES --renew`.
"""
import json
import os
import re
import shutil
import subprocess
import sys

TOLERANCE = 1.10  # another patch release of the compiler or the C library moves a few instructions
HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "instructions.json")


def count(compiler, work, libraries):
    """Instructions by function, what it calls included."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    program = os.path.join(work, "hot_paths")
    include = os.path.join(HERE, "..", "..", "include")
    subprocess.run([compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DNANLENS_SPLIT", f"-I{include}",
                    os.path.join(HERE, "hot_paths.cpp"), *libraries.split(), "-o", program], check=True)
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


def comparable(compiler):
    """Why counts can't be compared with the record here; empty if they can."""
    version = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True).stdout
    if not re.match(r"\S*[gc]\+\+\S* \(.*\) 12\.", version.splitlines()[0]):
        return "the compiler is not g++ 12"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return "" if re.search(r"^flags.* avx2 ", f.read(), re.M) else "the CPU has no AVX2"


def main():
    compiler, work, libraries = sys.argv[1:4]
    if why := comparable(compiler):
        print(f"not compared: {why}")
        return 0
    counts = count(compiler, work, libraries)
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
