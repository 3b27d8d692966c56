"""PyTorch programs recorded by the adapter that the command compiles, and what `nanlens why` says of them: `run.py NANLENS WORK_DIR`.

Ends with 77 where there is no PyTorch, unless NANLENS_REQUIRE_HOSTS is set.
"""
import glob
import os
import shutil
import subprocess
import sys

import score
import score_ranks

here = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the one that Debian's package is for
MAPPED = "import torch; print(*{line.split()[-1] for line in open('/proc/self/maps') if 'libtorch_cpu.so' in line})"


def library():
    """The path of the libtorch_cpu.so that Python loads; None without PyTorch."""
    result = subprocess.run([PYTHON, "-c", MAPPED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return result.stdout.strip() if result.returncode == 0 else None


def adapter(nanlens, path, environment):
    return subprocess.run([nanlens, "adapter", "torch", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment)


def expect_failure(nanlens, path, environment, *words):
    result = adapter(nanlens, path, environment)
    assert result.returncode == 2 and result.stdout == "", result
    assert result.stderr.startswith("nanlens: ") and result.stderr.count("\n") == 1, result.stderr
    assert all(word in result.stderr for word in words), result.stderr


def check_messages(nanlens, torch, work):
    cache = os.path.join(work, "empty_cache")
    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    expect_failure(nanlens, "/nowhere/libtorch_cpu.so", environment, "there is no library '/nowhere/libtorch_cpu.so'")
    expect_failure(nanlens, __file__, environment, "is no 64-bit shared library")
    expect_failure(nanlens, torch, dict(environment, PATH="/nowhere"), "no g++", "apt-get install g++")
    alone = os.path.join(work, "alone")
    os.makedirs(alone, exist_ok=True)
    shutil.copy("/lib/x86_64-linux-gnu/libm.so.6", os.path.join(alone, "libtorch_cpu.so"))
    expect_failure(nanlens, os.path.join(alone, "libtorch_cpu.so"), environment, "no libc10.so beside")
    assert not os.path.exists(os.path.join(cache, "nanlens")), "what failed has left something"


def check_ways(nanlens, torch, work):
    """Adapters are linked with the recorder that is compiled; what does not link so is compiled whole."""
    work = os.path.join(work, "ways")
    shutil.rmtree(work, ignore_errors=True)
    compilers, asked = os.path.join(work, "compilers"), os.path.join(work, "asked")
    os.makedirs(compilers)
    with open(os.path.join(compilers, "g++"), "w", encoding="utf-8") as script:
        script.write(f"""#!/bin/sh
case "$*" in
  *-print-file-name=*) echo libbacktrace.a; exit ;;
esac
echo "$*" >>{asked}
case "$*" in
  *-DNANLENS_SPLIT*) exit 1 ;;
esac
while [ "$1" != -o ]; do shift; done
: >"$2"
""")
        os.chmod(script.name, 0o755)
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(work, "cache"), PATH=f"{compilers}:{os.environ['PATH']}")
    made = adapter(nanlens, torch, environment)
    with open(asked, encoding="utf-8") as lines:
        ways = lines.read().splitlines()
    assert made.returncode == 0 and os.path.exists(made.stdout.rstrip("\n")), made
    assert [("-DNANLENS_SPLIT" in way, "libnanlens_compiled.a" in way) for way in ways] == [(True, True), (False, False)], ways


def check_cache(nanlens, torch, environment):
    """The adapter's path; when it is compiled a word says so, and asked again, nothing is."""
    cache = os.path.join(environment["XDG_CACHE_HOME"], "nanlens")
    known = os.listdir(cache) if os.path.isdir(cache) else []
    made = adapter(nanlens, torch, environment)
    path = made.stdout.rstrip("\n")
    is_new = os.path.basename(path) not in known
    assert made.returncode == 0 and ("compiling the adapter for PyTorch" in made.stderr) == is_new, made
    before = os.stat(path)
    again = adapter(nanlens, torch, dict(environment, PATH=os.environ["PATH"]))
    assert again.stdout == made.stdout and again.stderr == "" and os.stat(path).st_mtime_ns == before.st_mtime_ns, again
    left = [name for name in os.listdir(os.path.dirname(path)) if not name.endswith(".so")]
    assert not left, f"left in the cache: {left}"
    return path


def check_ranks(nanlens, path, out):
    """Programs of several ranks: the culprit is followed from rank to rank, and where its record is gone, nobody else is blamed."""
    program = os.path.join(here, "ranks.py")
    names = subprocess.run([PYTHON, program, "--names"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    subprocess.run([PYTHON, program, path, out, *names], check=True)
    wrong = score_ranks.wrong_answers(nanlens, out, names)
    gone = [os.remove(file) for file in glob.glob(os.path.join(out, "all_reduce", "*.rank2.*"))]
    head = score.answer(nanlens, os.path.join(out, "all_reduce"))["headline"]
    assert len(gone) == 6 and head["class"] == "unknown" and "the part of rank 2 was not recorded" in head["sentence"], head
    return wrong


def main():
    nanlens, work = sys.argv[1:3]
    torch = library()
    if torch is None:
        print(f"{PYTHON} has no PyTorch (Debian: apt-get install python3-torch libtorch-dev)")
        return 1 if os.environ.get("NANLENS_REQUIRE_HOSTS") else 77
    out = os.path.join(work, "logdirs")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    shutil.rmtree(os.path.join(work, "ranks"), ignore_errors=True)
    os.makedirs(os.path.join(work, "ranks"))
    check_messages(nanlens, torch, work)
    check_ways(nanlens, torch, work)
    path = check_cache(nanlens, torch, {"XDG_CACHE_HOME": os.path.join(work, "cache"), **os.environ})
    subprocess.run([PYTHON, os.path.join(here, "programs.py"), path, out], check=True)
    scored = subprocess.run([PYTHON, os.path.join(here, "score.py"), nanlens, out]).returncode
    return 1 if check_ranks(nanlens, path, os.path.join(work, "ranks")) else scored


if __name__ == "__main__":
    sys.exit(main())
