#!/usr/bin/env python3
"""Links and loads units of all manner of flags in all manner of ways, and prints a table:
`matrix_test.py SOURCE NANLENS CXX CLANG RECORDER [CASE]`, where RECORDER is what units with NANLENS_SPLIT are linked with.

In each case all units record, from several threads, into what one of them has enabled: there must be one run, in one file set,
with every event in it once.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, nanlens, gcc, clang, recorder = sys.argv[1:6]
work = pathlib.Path(tempfile.mkdtemp())
here = pathlib.Path(source) / "tests" / "capture"
BASE = ["-std=c++20", f"-I{source}/include", "-Wall", "-Wextra", "-Werror", "-fPIC"]
TIMES = 200

LATE = [] if "clang" in gcc else ["--param=ggc-min-heapsize=500000"]  # as for developers: GCC collects garbage later, and is done sooner
# Ways to compile a unit: compiler and flags.
KINDS = {
    "plain": (gcc, ["-O1"]),
    "O0": (gcc, ["-O0"]),
    "O3": (gcc, ["-O3"]),
    "hidden": (gcc, ["-O0", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffast-math"]),
    "nortti": (gcc, ["-O0", "-fno-rtti", "-fno-exceptions"]),
    "haswell": (gcc, ["-O0", "-march=haswell"]),
    "haswellsplit": (gcc, ["-O2", "-march=haswell", "-DNANLENS_SPLIT"]),
    "skylakesplit": (gcc, ["-O0", "-march=skylake-avx512", "-DNANLENS_SPLIT"]),
    "split": (gcc, ["-O0", "-DNANLENS_SPLIT"]),
    "disabled": (gcc, ["-O0", "-DNANLENS_DISABLE"]),
    "lto": (gcc, ["-O1", "-flto"]),
    "clang": (clang, ["-O0"]),
    "clanghidden": (clang, ["-O0", "-fvisibility=hidden"]),
}


class Case:
    """linked: kinds in the program itself, in link order; shared: libraries that it is linked with; opened: plugins."""

    def __init__(self, name, linked=(), shared=(), opened=(), flags=(), script=None, runner=(), linker=gcc):
        self.name, self.linked, self.shared, self.opened = name, linked, shared, opened
        self.flags, self.script, self.runner, self.linker = list(flags), script, list(runner), linker


NEHALEM = ["qemu-x86_64", "-cpu", "Nehalem"]
CASES = [
    Case("flags mixed in a program", ["plain", "O0", "O3", "nortti", "hidden", "lto"], flags=["-flto=2"]),
    Case("the same, in another order", ["lto", "hidden", "nortti", "O3", "O0", "plain"], flags=["-flto=2"]),
    Case("no exceptions first", ["nortti", "plain"]),
    Case("no exceptions last", ["plain", "nortti"]),
    Case("two compilers", ["plain", "clang"]),
    Case("two compilers, linked by clang", ["clang", "O0"], linker=clang),
    Case("split and header-only", ["split", "O0"]),
    Case("header-only and split", ["O0", "split"]),
    Case("compiled out first", ["disabled", "O0"]),
    Case("compiled out last", ["O0", "disabled"]),
    # Header-only, such a unit also holds code of the standard library, which the linker may give to others: with -O3 all of
    # that is inlined here, in general NANLENS_SPLIT is what helps (README).
    Case("AVX2 first, on a CPU without", ["haswell", "O3"], runner=NEHALEM, script="O3 only"),
    Case("AVX2 first, split, on a CPU without", ["haswellsplit", "O0"], runner=NEHALEM, script="O0 only"),
    Case("AVX-512 first, split, on a CPU without", ["skylakesplit", "plain"], runner=NEHALEM, script="plain only"),
    Case("AVX2 and AVX-512, split", ["skylakesplit", "haswellsplit", "split"], script="split only"),
    Case("shared libraries", ["O0"], shared=["plain", "clang"]),
    Case("hidden shared libraries", ["O0"], shared=["hidden", "clanghidden"]),
    Case("hidden shared libraries alone", [], shared=["hidden", "clanghidden"]),
    Case("plugins", ["O0"], opened=["plain", "hidden"]),
    Case("plugins, -rdynamic", ["O0"], opened=["plain", "hidden"], flags=["-rdynamic"]),
    Case("plugins of two compilers, -rdynamic", ["plain"], opened=["clang", "hidden"], flags=["-rdynamic"]),
    Case("plugins, a host that does not record", [], opened=["hidden", "clanghidden"]),
    Case("the first plugin is closed", [], opened=["hidden", "plain"], script="close"),
    Case("the first plugin is closed, clang", [], opened=["clanghidden", "hidden"], script="close"),
    Case("the second plugin is closed", ["O0"], opened=["clanghidden", "plain"], script="close second"),
]


def compile_object(kind):
    compiler, flags = KINDS[kind]
    path = work / f"{kind}.o"
    subprocess.run([compiler, *BASE, *flags, *(LATE if compiler == gcc else []), f"-DNANLENS_UNIT={kind}", "-c", str(here / "linked_unit.cpp"), "-o", str(path)], check=True)
    return path


def compile_library(kind):
    compiler, _ = KINDS[kind]
    subprocess.run([compiler, "-shared", str(work / f"{kind}.o"), "-o", str(work / f"lib{kind}.so")], check=True)


def compile_rest():
    subprocess.run([gcc, *BASE, "-O0", "-c", str(here / "linked_host.cpp"), "-o", str(work / "host.o")], check=True)


def link(case, program):
    objects = [str(work / f"{kind}.o") for kind in case.linked]
    if any(kind.endswith("split") for kind in case.linked):
        objects += recorder.split()
    # The units' functions are looked up by name, whatever else the program shows.
    exported = [f"-Wl,--export-dynamic-symbol={what}_{kind}" for kind in case.linked for what in ("work", "enable", "disable", "check")]
    subprocess.run([case.linker, *objects, str(work / "host.o"), *case.flags, *exported, "-Wl,--no-as-needed",
                    *[str(work / f"lib{kind}.so") for kind in case.shared], f"-Wl,-rpath,{work}", "-pthread", "-ldl", "-o", str(program)],
                   check=True)


def script_of(case, logdir):
    """The host's arguments, and how often each unit works."""
    units = [*case.linked, *case.shared, *case.opened]
    words = [word for kind in case.opened for word in ("open", kind, str(work / f"lib{kind}.so"))]
    counts = collections.Counter()

    def let_work(names):
        words.extend(["work", *names, ";", str(TIMES)])
        counts.update({name: TIMES for name in names if name != "disabled"})

    if case.script and case.script.endswith(" only"):
        units = [case.script.removesuffix(" only")]
    recording = [unit for unit in units if unit != "disabled"]
    words += ["enable", recording[0], str(logdir)]
    let_work(units)
    if case.script and case.script.startswith("close"):
        closed = case.opened[1 if case.script == "close second" else 0]
        words += ["close", closed]
        units.remove(closed)
        recording.remove(closed)
        let_work(units)
    for unit in recording:
        if not {"-fno-exceptions"} & set(KINDS[unit][1]):
            words += ["check", unit]
            counts[unit + "_divide"] += 1
    words += ["disable", recording[-1]]
    return words, counts


def dumped(logdir, what):
    text = subprocess.run([nanlens, "dump", str(logdir), "--what", what], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def verdict(case, number):
    program, logdir = work / f"case{number}", work / f"log{number}"
    link(case, program)
    words, expected = script_of(case, logdir)
    ran = subprocess.run([*case.runner, str(program), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        return f"exit code {ran.returncode}: {ran.stdout[-400:]}"
    sets = [name for name in os.listdir(logdir) if name.endswith(".metadata")]
    if len(sets) != 1:
        return f"{len(sets)} file sets"
    if ran.stdout:
        return f"it said: {ran.stdout[-400:]}"
    calls = collections.Counter(e["op_type"] for e in dumped(logdir, "executions"))
    traces = collections.Counter(e["op_name"] for e in dumped(logdir, "traces"))
    seen = collections.Counter()
    for op, count in calls.items():
        seen[op.removeprefix("__inference_").rsplit("_step_", 1)[0]] += count
    if seen != expected:
        return f"calls {dict(seen)}, expected {dict(expected)}"
    for kind in expected:
        rows = sum(count for op, count in traces.items() if op == kind + "_double")
        if not kind.endswith("_divide") and rows != expected[kind]:
            return f"{rows} rows of {kind}, expected {expected[kind]}"
    return ""


def main():
    if len(sys.argv) > 6:
        CASES[:] = [case for case in CASES if sys.argv[6] in case.name]
    kinds = {kind for case in CASES for kind in (*case.linked, *case.shared, *case.opened)}
    libraries = {kind for case in CASES for kind in (*case.shared, *case.opened)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(compile_rest), *[pool.submit(compile_object, kind) for kind in sorted(kinds)]]
        for task in tasks:
            task.result()
        list(pool.map(compile_library, libraries))
    failed = 0
    for number, case in enumerate(CASES):
        if case.runner and (shutil.which(case.runner[0]) is None or os.uname().machine != "x86_64"):
            print(f"{case.name:45} skipped: no {case.runner[0]}")
            continue
        what = verdict(case, number)
        failed += what != ""
        print(f"{case.name:45} {what or 'as expected'}", flush=True)
    shutil.rmtree(work)
    return 1 if failed else 0


sys.exit(main())
