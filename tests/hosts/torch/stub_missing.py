"""Libraries that a PyTorch wheel built for CUDA names and a CPU never calls, as stubs: `stub_missing.py SITE_PACKAGES`. A stub
that is called after all says its name and aborts."""
import glob
import os
import subprocess
import sys

SYSTEM = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.", "ld-linux", "libcuda.", "libz.")
CALLED = r"""
#include <stdio.h>
#include <stdlib.h>
#define STUB(name) void name(void) { fputs("stub called: " #name "\n", stderr); abort(); }
"""


def lines(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()


def needed(library):
    return {line.split("[")[1].split("]")[0] for line in lines("readelf", "-dW", library) if "(NEEDED)" in line}


def symbols(library):
    """(defined, missing): names of dynamic symbols; those that may be missing don't count."""
    defined, missing = set(), set()
    for line in lines("nm", "-D", "--without-symbol-versions", library):
        kind, name = line.split()[-2:]
        if kind == "U":
            missing.add(name)
        elif kind not in "wv":
            defined.add(name)
    return defined, missing


def main():
    site = sys.argv[1]
    directory = os.path.join(site, "torch", "lib")
    own = glob.glob(directory + "/*.so*") + glob.glob(site + "/torch/_C*.so")
    there = {os.path.basename(path) for path in own + glob.glob(site + "/nvidia/**/*.so*", recursive=True)}
    wanted = sorted({name for path in own for name in needed(path)} - there)
    wanted = [name for name in wanted if not name.startswith(SYSTEM)]
    if not wanted:
        return
    defined, missing = set(), set()
    mapped = {line.split()[2] for line in lines("ldd", "/bin/sh") if "=>" in line}
    for path in own + glob.glob(site + "/nvidia/**/*.so*", recursive=True) + sorted(mapped):
        found = symbols(path)
        defined |= found[0]
        missing |= found[1] if path in own else set()
    for name in ("libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"):
        path = lines("gcc", "-print-file-name=" + name)[0]
        defined |= symbols(path)[0] if os.path.isabs(path) else set()
    stubs = sorted(name for name in missing - defined if not name.startswith(("Py", "_Py")))
    source = os.path.join(directory, "stubs.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CALLED + "".join(f"STUB({name})\n" for name in stubs))
    for i, name in enumerate(wanted):
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname," + name, *([source] if i == 0 else ["-x", "c", "/dev/null"]),
                        "-o", os.path.join(directory, name)], check=True)
    print(f"{len(wanted)} libraries of CUDA are stubs")


main()
