"""Compiles each header alone: `headers.py SOURCE_DIR CLANG WORK_DIR FLAG...`.

Alone means: with what it includes itself and nothing else. A header is made a module of its own, which sees of others only what it
includes; so all of them are read once, in one go. Those of hosts whose own headers can't be modules are compiled one by one,
each on top of a header that it includes, which was compiled alone and kept (-include-pch), and without the definitions that
NANLENS_SPLIT leaves out: those are among the modules, and bring along what a header may lack. PyTorch's headers take ten times as
long as what we say about them: all that ours include are read once, and each of ours on top of that. (One that leaves out a part
of PyTorch's that it needs is not seen, then.)
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

source, compiler, work = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3])
flags = sys.argv[4:]
one_by_one = [*flags, "-DNANLENS_SPLIT", "-fpch-instantiate-templates"]


def flags_of_mpi():
    found = subprocess.run(["pkg-config", "--cflags-only-I", "ompi-c"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return ["-isystem" + directory[2:] for directory in shlex.split(found.stdout)]


# Those that are compiled one by one, and what they need besides: how their path begins, what is missing without flags, and the flags; None where it is missing.
HOSTS = (
    ("nanlens/hosts/eigen.hpp", "Eigen", ["-isystem/usr/include/eigen3"]),
    ("nanlens/hosts/mpi", "MPI", flags_of_mpi() or None),
    ("nanlens/hosts/ggml", "ggml", [f"-isystem{source}/build/ggml/include"] if (source / "build/ggml/done-1").exists() else None),
    ("nanlens/hosts/torch", "PyTorch", ["-DNDEBUG"] if os.path.exists("/usr/include/ATen/record_function.h") else None),
)
THEIRS = "theirs"  # what ours include of PyTorch's


def host_of(header):
    return next((host for host in HOSTS if header.startswith(host[0])), None)


def includes_in(text):
    """The headers of nanlens that a text includes; and those of them that it includes in any case."""
    every, always, depth = [], [], 0
    for word, header in re.findall(r"^\s*#\s*(if|endif|include)[a-z]*(?:\s*<(nanlens/[^>]+)>)?", text, re.M):
        depth += {"if": 1, "endif": -1, "include": 0}[word]
        if header:
            every.append(header)
            if depth == 0:
                always.append(header)
    return every, always


def brought_by(header, includes):
    """All that comes with a header, however indirectly; the header itself only if it comes back to itself."""
    found, left = set(), list(includes[header])
    while left:
        other = left.pop()
        if other in includes and other not in found:
            found.add(other)
            left += includes[other]
    return found


class Headers:
    def __init__(self):
        folder = source / "include"
        self.includes, self.always, self.theirs = {}, {}, {}
        for path in sorted(folder.glob("nanlens/**/*")):
            if path.suffix in (".hpp", ".inl", ".h"):
                header = str(path.relative_to(folder))
                text = path.read_text(encoding="utf-8")
                self.includes[header], self.always[header] = includes_in(text)
                self.theirs[header] = re.findall(r"^ *# *include (<(?:ATen|c10|torch)/[^>]+>)", text, re.M)
        self.brought = {header: brought_by(header, self.includes) for header in self.includes}
        checked = [header for header in self.includes if header.endswith(".hpp") and not header.endswith("/disabled.hpp")]
        self.modules = [header for header in checked if not host_of(header)]
        self.checked = [header for header in checked if host_of(header)]
        on_theirs = [header for header in self.checked if any(self.theirs[other] for other in (header, *self.brought[header]))]
        self.below = self.chosen([header for header in self.checked if header not in on_theirs]) | dict.fromkeys(on_theirs, THEIRS)

    @property
    def all_of_theirs(self):
        """What of PyTorch's the headers include."""
        return sorted({name for names in self.theirs.values() for name in names})

    def chosen(self, headers):
        """What each header is compiled on top of; None where nothing is. What others are compiled on top of is itself compiled from
        nothing: clang loses macros where such a file stands on another."""
        fit = {header: {other for other in brought_by(header, self.always) if other in headers and
                        host_of(other) == host_of(header) and header not in self.brought[other]} for header in headers}
        below = dict.fromkeys(headers)

        def saved(header):
            return len(self.brought[below[header]]) if below[header] else 0

        def gained(other):
            return sum(max(0, len(self.brought[other]) - saved(header)) for header in headers
                       if other in fit[header] and header not in below.values()) - saved(other)

        while gained(best := max(headers, key=gained)) > 20:  # with fewer, keeping it costs more
            below[best] = None
            for header in headers:
                if best in fit[header] and header not in below.values() and len(self.brought[best]) > saved(header):
                    below[header] = best
        return below


def said(command):
    """What the compiler said, if it refused something."""
    result = subprocess.run([compiler, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if result.returncode == 0 else result.stdout or f"{command}: exit code {result.returncode}"


def compiled_as_modules(headers):
    """What the compiler said, if it refused one of the headers that are modules."""
    folder = source / "include"
    rest = [path for path in sorted(folder.glob("nanlens/**/*")) if path.suffix in (".inl", ".inc")]
    texts = [path.read_text(encoding="utf-8") for path in [*rest, *(folder / header for header in headers.modules)]]
    names = sorted({"compare"}.union(*(re.findall(r"^#include <([a-z_]+)>", text, re.M) for text in texts)))
    everything = "".join(f"#include <{name}>\n" for name in names)
    preprocessed = subprocess.run([compiler, *flags, "-E", "-x", "c++", "-"], input=everything, stdout=subprocess.PIPE, text=True, check=True)
    found = dict(re.findall(r'^# 1 "(?=[^"]*/([a-z_]+)")([^"]+)" 1', preprocessed.stdout, re.M))
    std = "".join(f'module {name} {{ header "{os.path.realpath(found[name])}" export * }}\n' for name in names if name in found)
    own = "".join(f'module m{i} {{ header "{folder / header}" export * }}\n' for i, header in enumerate(headers.modules))
    (work / "std.map").write_text(f"module std [system] {{\n{std}}}\n")
    (work / "own.map").write_text(f"module nanlens {{\n{own}" + "".join(f'textual header "{path}"\n' for path in rest) + "}\n")
    make = ["-fmodules", "-fcxx-modules", "-fno-implicit-module-maps", "-x", "c++", "-c", "-Xclang", "-emit-module"]
    return said(["-std=c++20", "-w", *make, "-fmodule-name=std", str(work / "std.map"), "-o", str(work / "std.pcm")]) or \
        said([*flags, *make, "-Xclang", "-fmodules-local-submodule-visibility", f"-fmodule-map-file={work / 'std.map'}",
              f"-fmodule-file={work / 'std.pcm'}", "-fmodule-name=nanlens", str(work / "own.map"), "-o", str(work / "own.pcm")])


def kept(name):
    """Where what others are compiled on top of is."""
    return str(work / name.replace("/", ".")) + ".pch"


def compiled_theirs(headers):
    """What the compiler said, if it refused what ours include of PyTorch's."""
    more = next(more for _, host, more in HOSTS if host == "PyTorch")
    if more is None:
        return ""
    (work / THEIRS).write_text("".join(f"#include {name}\n" for name in headers.all_of_theirs))
    return said([*one_by_one, *more, "-x", "c++-header", str(work / THEIRS), "-o", kept(THEIRS)])


def compiled(headers, header):
    """What the compiler said, if it refused the header."""
    _, missing, more = host_of(header)
    if more is None:
        print(f"no {missing} here: {header} is left out")
        return ""
    name = header.replace("/", ".")
    (work / name).write_text(f"#include <{header}>\n")
    command = [*one_by_one, *more]
    if headers.below[header]:
        command += ["-include-pch", kept(headers.below[header])]
    if header in headers.below.values():
        command += ["-x", "c++-header", str(work / name), "-o", kept(header)]
    else:
        command += ["-x", "c++", "-fsyntax-only", str(work / name)]
    words = said(command)
    return f"{words}header: {header}" if words else ""


def main():
    headers = Headers()
    left = set(headers.checked)
    done = {None}
    faults = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(compiled_theirs, headers): THEIRS, pool.submit(compiled_as_modules, headers): None}
        while left or running:
            ready = sorted(header for header in left if headers.below[header] in done) if not faults else []
            running.update({pool.submit(compiled, headers, header): header for header in ready})
            left.difference_update(ready)
            if not running:
                break
            for task in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                done.add(running.pop(task))
                faults += [task.result()] if task.result() else []
    print("\n".join(faults) or f"{len(headers.modules)} headers as modules, {len(headers.checked)} one by one")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
