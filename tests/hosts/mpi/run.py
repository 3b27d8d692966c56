"""Ranks that exchange a NaN, recorded as they are, and what `nanlens why` says of them: `run.py NANLENS WORK_DIR EXAMPLE`.

Right is an answer that names the rank, the op and the line of the culprit, and how far it came. Ends with 77 where there
is no MPI, unless NANLENS_REQUIRE_HOSTS is set.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(here, "exchanges.cpp")
# MPI refuses to run as root, and more ranks than cores, unless it is told that this is meant.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_btl_base_warn_component_unused": "0"}

# Case: rank, op and class of the culprit; to how many other ranks it came; how many tensors are bad. In "persistent" what
# was received is a second cause: that it can't be told.
EXPECTED = {
    "allreduce": (2, "MPI_Allreduce", "source", 3, 5),
    "iallreduce": (1, "MPI_Iallreduce", "source", 3, 5),
    "ring": (1, "MPI_Send", "source", 3, 6),
    "bcast": (3, "MPI_Bcast", "source", 3, 4),
    "reduce_scatter": (0, "MPI_Reduce_scatter_block", "source", 1, 2),
    "halo": (2, "MPI_Sendrecv", "source", 1, 4),
    "in_place": (3, "MPI_Allreduce", "source", 3, 5),
    "column": (0, "MPI_Send", "source", 1, 2),
    "any_source": (3, "MPI_Send", "source", 1, 2),
    "split": (3, "MPI_Allreduce", "source", 1, 3),
    "overflow": (None, "MPI_Allreduce", "made", None, 4),
    "alltoall": (1, "MPI_Alltoall", "source", 1, 2),
    "gather": (2, "MPI_Gather", "source", 1, 4),
    "scan": (1, "MPI_Scan", "source", 2, 4),
    "dies": (3, "MPI_Allreduce", "source", 3, 5),
    "structure": (0, "MPI_Recv", "unknown", None, 1),
    "persistent": (1, "MPI_Send", "source", None, 2),
    "threads": (2, "MPI_Allreduce", "source", 3, 13),
    "clean": None,
    "parts": None,
}


def run(words, **environment):
    return subprocess.run(words, env=dict(os.environ, **ALLOWED, **environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def line_of(case, mark):
    lines = open(SOURCE, encoding="utf-8").read().splitlines()
    begin = next(i for i, text in enumerate(lines) if re.match(rf"(\[\[gnu::noinline\]\] )?void {case}(_and_scatter)?\(", text))
    return next(i for i in range(begin, len(lines)) if lines[i].endswith("// " + mark)) + 1


class Test:
    def __init__(self, nanlens, work):
        self.nanlens = nanlens
        self.work = work
        self.program = os.path.join(work, "exchanges")

    def record(self, case, *before):
        """Under nanlens, or with it under mpirun."""
        logdir = os.path.join(self.work, case)
        record = [self.nanlens, "run", "--logdir", logdir, "--"]
        launch = ["mpirun", "-n", "4"]
        return logdir, run([*(launch + record if "inside" in before else record + launch), self.program, case])

    def why(self, logdir):
        return json.loads(run([self.nanlens, "why", "--json", logdir]).stdout)

    def hosts(self, logdir):
        runs = [json.loads(line) for line in run([self.nanlens, "dump", logdir, "--what", "runs"]).stdout.splitlines()]
        return [sorted(host.rsplit(".", 1)[1] for host in r["hosts"]) for r in runs]

    def judge(self, case, expected, logdir):
        """(right, what was found)"""
        found = self.why(logdir)
        head = found["headline"]
        if head is None or expected is None:
            return head is expected, "nothing wrong" if head is None else head["sentence"]
        rank, op, kind, reached, total = expected
        said = f"{head['sentence']} {head['consequence']}"
        mark = "unknown" if kind == "unknown" else "culprit"
        right = head["op_type"] == op and head["class"] == kind and found["total"] == total
        right = right and (case == "dies" or head["line"] == line_of(case, mark))  # the stack may be lost with the process
        right = right and [c["class"] for c in found["causes"][1:]] == (["unknown"] if case == "persistent" else [])
        right = right and (rank is None or f" in rank {rank} (host " in head["sentence"])
        right = right and (reached is None or re.search(rf" (spread it|came) to {reached} other rank", head["consequence"]))
        return bool(right), said

    def score(self):
        wrong = 0
        for case, expected in EXPECTED.items():
            logdir, ran = self.record(case)
            right, said = self.judge(case, expected, logdir)
            if (ran.returncode == 0) != (case != "dies"):
                right, said = False, said + f"; ended with {ran.returncode}: {ran.stderr}"
            wrong += not right
            print(f"{case:16}{'  ' if right else 'X '}{said}")
        print(f"right: {len(EXPECTED) - wrong} of {len(EXPECTED)}")
        assert wrong == 0

    def check_parts(self):
        parts = os.path.join(self.work, "parts.out")
        include = os.path.join(here, "../../../include")
        fake = os.path.join(self.work, "libcuda.so.1")  # a library by the name of one that gives memory of GPUs
        subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", fake], check=True)
        subprocess.run(["mpicxx", "-std=c++20", "-DOMPI_SKIP_MPICXX", f'-DFAKE_CUDA="{fake}"', "-I", include,
                        os.path.join(here, "parts.cpp"), "-o", parts], check=True)
        ran = run(["mpirun", "-n", "1", parts])
        assert ran.returncode == 0, ran.stderr

    def check_recorded(self):
        """Every rank has put in and got something of each, in numbers that all ranks agree on."""
        listed = run([self.nanlens, "dump", os.path.join(self.work, "parts"), "--what", "executions"]).stdout
        sums = {}
        for e in map(json.loads, listed.splitlines()):
            exchange = e["exchange"]
            parts = sums.setdefault((exchange["communicator"], exchange["sequence"], e["op_type"]), [[], []])
            parts[exchange["received"]].append(e["job_rank"])
        got = {op: [sorted(parts) for parts in both] for (_, _, op), both in sums.items()}
        everyone = [0, 1, 2, 3]
        expected = dict.fromkeys(("MPI_Allgatherv", "MPI_Reduce_scatter", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Alltoall"), [everyone] * 2)
        expected |= {"MPI_Gatherv": [everyone, [2]], "MPI_Scatterv": [[1], everyone], "MPI_Exscan": [everyone, [1, 2, 3]],
                     "MPI_Ireduce": [everyone, [3]]}
        assert got == expected and len({number for _, number, _ in sums}) == 10, got

    def check_stacks(self):
        """Of each call the whole stack, also where the same place was called before from elsewhere."""
        logdir, ran = self.record("two_callers")
        assert ran.returncode == 0, ran.stderr

        def dumped(what):
            return list(map(json.loads, run([self.nanlens, "dump", logdir, "--what", what]).stdout.splitlines()))
        line = {frame["id"]: frame["line"] for frame in dumped("stack_frames") if frame["file_path"].endswith("exchanges.cpp")}
        stacks = [[line[frame] for frame in e["stack_frame_ids"] if frame in line][1:] for e in dumped("executions") if e["job_rank"] == 0]
        first, second = ([line_of("two_callers", mark), line_of("sum_up", "inner")] for mark in ("first", "second"))
        assert stacks == [first, first, second, second] * 2, stacks

    def check_inside(self):
        """One nanlens for each rank: one answer, by the first."""
        logdir, ran = self.record("bcast", "inside")
        assert self.hosts(logdir) == [["rank0", "rank1", "rank2", "rank3"]] * 2, self.hosts(logdir)  # beside the job before
        assert ran.stderr.count("more: nanlens why") == 1 and "in rank 3 (host " in ran.stderr, ran.stderr
        assert "can't tell" not in ran.stderr.lower() and not glob.glob(os.path.join(logdir, ".*")), ran.stderr

    def check_missing_rank(self):
        """Where the culprit's record is gone, nobody else is blamed."""
        logdir = os.path.join(self.work, "without_rank_2")
        shutil.copytree(os.path.join(self.work, "allreduce"), logdir)
        gone = [os.remove(file) for file in glob.glob(os.path.join(logdir, "*.rank2.*"))]
        assert len(gone) == 6, os.listdir(logdir)
        head = self.why(logdir)["headline"]
        assert head["class"] == "unknown" and "the part of rank 2 was not recorded" in head["sentence"], head["sentence"]

    def check_dead_rank(self):
        """What the other ranks recorded is there, and what the dead one did."""
        assert self.hosts(os.path.join(self.work, "dies")) == [["rank0", "rank1", "rank2", "rank3"]]

    def check_two_jobs(self):
        """Jobs that share a logdir are runs of their own."""
        logdir = os.path.join(self.work, "shared")
        for case in ("clean", "in_place"):
            run([self.nanlens, "run", "--logdir", logdir, "--", "mpirun", "-n", "4", self.program, case])
        assert len(self.hosts(logdir)) == 2 and self.judge("in_place", EXPECTED["in_place"], logdir)[0], self.hosts(logdir)

    def check_example(self, example):
        """With one line in the program, and ops of its own: what examples/mpi/README.md says."""
        with open(os.path.join(here, "../../../examples/mpi/README.md"), encoding="utf-8") as f:
            promised = re.findall(r"`([^`]*)`", f.read().split("\nprints ")[1])
        logdir = os.path.join(self.work, "example")
        run(["mpirun", "-n", "4", example], NANLENS_LOGDIR=logdir)
        why = run([self.nanlens, "why", logdir]).stdout
        why = re.sub(r"\(host \S+\)", "(host node1)", why)
        assert len(promised) == 2 and all(words in why for words in promised), why


def main():
    nanlens, work, example = sys.argv[1:4]
    if not all(map(shutil.which, ("mpirun", "mpicxx"))):
        print("no MPI here (Debian: apt-get install openmpi-bin libopenmpi-dev)")
        return 1 if os.environ.get("NANLENS_REQUIRE_HOSTS") else 77
    cache = os.path.join(work, "cache")
    for name in os.listdir(work) if os.path.isdir(work) else []:
        if name != "cache":
            shutil.rmtree(os.path.join(work, name)) if os.path.isdir(os.path.join(work, name)) else os.remove(os.path.join(work, name))
    os.makedirs(cache, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = cache
    test = Test(nanlens, work)
    subprocess.run(["mpicxx", "-std=c++20", "-g", "-O1", "-DOMPI_SKIP_MPICXX", SOURCE, "-o", test.program], check=True)
    test.check_parts()
    test.score()
    test.check_recorded()
    test.check_stacks()
    test.check_inside()
    test.check_missing_rank()
    test.check_dead_rank()
    test.check_two_jobs()
    test.check_example(example)


if __name__ == "__main__":
    sys.exit(main())
