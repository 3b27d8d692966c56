"""Ranks of a job, as launchers tell them by the environment, record into one run: `ranks_test.py NANLENS ARRAYS`.

With Open MPI here, also by mpirun itself; without it that fails if NANLENS_REQUIRE_HOSTS is set.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

nanlens, arrays = sys.argv[1:3]
LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC", "OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM_", "NANLENS_RUN_ID")
clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
host = os.uname().nodename


def record(logdir, command=(arrays,), **environment):
    subprocess.run(command, env=dict(clean, NANLENS_LOGDIR=logdir, **environment), stdout=subprocess.DEVNULL, check=True)


def runs(logdir):
    dump = subprocess.run([nanlens, "dump", logdir, "--what", "runs"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in dump.splitlines()]


def why(logdir):
    return subprocess.run([nanlens, "why", logdir], stdout=subprocess.PIPE, text=True, check=True).stdout


def ranks_of(run):
    return sorted(run["hosts"])


def check_joined(name, logdir, of_rank):
    for rank in (2, 0, 1):  # the first NaN is rank 2's
        record(logdir, **of_rank(str(rank), "first"))
    assert [ranks_of(run) for run in runs(logdir)] == [[f"{host}.rank{i}" for i in range(3)]], (name, runs(logdir))
    assert runs(logdir)[0]["num_executions"] == 3 * 12, (name, runs(logdir))
    assert f"in rank 2 (host {host})" in why(logdir), (name, why(logdir))
    record(logdir, **of_rank("1", "second"))  # another job, the same logdir
    assert sorted(map(ranks_of, runs(logdir)), key=len)[0] == [f"{host}.rank1"] and len(runs(logdir)) == 2, (name, runs(logdir))


def check_alone(name, logdir, hosts, **environment):
    record(logdir, **environment)
    record(logdir, **environment)
    assert [run["hosts"] for run in runs(logdir)] == [hosts, hosts], (name, runs(logdir))


def check_mpirun(logdir):
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for jobs in (1, 2):
        record(logdir, ["mpirun", "--oversubscribe", "-n", "3", arrays], **allowed)
        assert [ranks_of(run) for run in runs(logdir)] == jobs * [[f"{host}.rank{i}" for i in range(3)]], runs(logdir)


def main():
    joined = {
        "open_mpi": lambda rank, job: {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "3", "PMIX_NAMESPACE": job},
        "slurm": lambda rank, job: {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": "3", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": job},
        "torchrun": lambda rank, job: {"RANK": rank, "WORLD_SIZE": "3", "TORCHELASTIC_RUN_ID": job, "TORCHELASTIC_RESTART_COUNT": "0"},
    }
    # This process is the launcher, of one job only: the second job is said to be of two hosts, which nothing joins.
    one_host = lambda rank, job: {"PMI_RANK": rank, "PMI_SIZE": "3", "MPI_LOCALNRANKS": "3" if job == "first" else "2"}
    alone = {
        "one": ([host], {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_NAMESPACE": "x"}),
        "no_number": ([host], {"RANK": "../0", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "x", "TORCHELASTIC_RESTART_COUNT": "0"}),
        "beyond": ([host], {"PMI_RANK": "2", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}),
        "batch_script": ([host], {"SLURM_PROCID": "0", "SLURM_JOB_ID": "17"}),
        "no_job": ([f"{host}.rank1"], {"RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0"}),
    }
    with tempfile.TemporaryDirectory() as work:
        for name, of_rank in (*joined.items(), ("one_host", one_host)):
            check_joined(name, os.path.join(work, name), of_rank)
        for name, (hosts, environment) in alone.items():
            check_alone(name, os.path.join(work, name), hosts, **environment)
        if shutil.which("mpirun"):
            check_mpirun(os.path.join(work, "mpirun"))
        else:
            assert not os.environ.get("NANLENS_REQUIRE_HOSTS"), "no mpirun here (Debian: openmpi-bin)"
            print("no mpirun here (Debian: openmpi-bin): what it does itself is not tested")


if __name__ == "__main__":
    main()
