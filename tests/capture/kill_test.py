"""Nothing is lost however a recording program dies: `kill_test.py NANLENS DEATH [TRIALS]`.

The program counts, in a file that outlives it, what its recording calls have returned from; all of that must be readable (of a
ring: the last N of it) before and after `nanlens recover`.
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

nanlens, death = sys.argv[1:3]
trials = int(sys.argv[3]) if len(sys.argv) > 3 else 4
rng = random.Random(9)
THREADS = 3
ENDS = {"_exit": 3, "quick_exit": 3, "abort": -signal.SIGABRT, "throw": -signal.SIGABRT, "null": -signal.SIGSEGV,
        str(int(signal.SIGINT)): -signal.SIGINT, str(int(signal.SIGTERM)): -signal.SIGTERM, str(int(signal.SIGFPE)): -signal.SIGFPE,
        str(int(signal.SIGKILL)): -signal.SIGKILL}
KEEPS = {"throw"}  # ends in order: the rest is written, no memory is left, and what other threads do then is not recorded


def dump(logdir, what):
    out = subprocess.run([nanlens, "dump", logdir, "--what", what], check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


def in_background():
    """As a shell begins a job in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def die(logdir, progress, ring, count, way, kill_after, *bad):
    program = subprocess.Popen([death, logdir, progress, str(ring), str(THREADS), str(count), way, *bad], stderr=subprocess.PIPE,
                               text=True, preexec_fn=in_background if kill_after is None else None)
    if kill_after is not None:
        while program.poll() is None and not any(counts(progress)):
            pass
        time.sleep(kill_after)  # any instant will do
        program.send_signal(signal.SIGKILL)
    said = program.communicate()[1]
    what = f"way {way}, ring {ring}, {count} ops, killed after {kill_after} s: ended by {program.returncode}; stderr: {said}"
    assert program.returncode == ENDS[way], what
    assert bool(said) is (way == "throw"), what  # an abort that nobody asked for mostly tells of itself


def counts(progress):
    with open(progress, "rb") as f:
        return struct.unpack(f"{THREADS}q", f.read())


def indices(items):
    """For each thread, which of its ops were read."""
    found = [[] for _ in range(THREADS)]
    for item in items:
        thread, index = shape_of(item)
        found[thread - 1].append(index - 1)
    return found


def shape_of(item):
    values = item["debug_tensor_value"] if "debug_tensor_value" in item else item["debug_tensor_values"][0]
    return int(values[4]), int(values[5])  # of rank 2


def check_all(done, items, what):
    for thread, found in enumerate(indices(items)):
        assert found == list(range(len(found))), f"{what}: thread {thread} has gaps or repetitions"
        assert len(found) >= done[thread], f"{what}: thread {thread} recorded {done[thread]}, {len(found)} are readable"


def check_ring(done, items, ring, what):
    total = 0
    for thread, found in enumerate(indices(items)):
        assert found == list(range(found[0], found[0] + len(found))) if found else True, f"{what}: thread {thread} has gaps"
        total += len(found)
    newest = [f[-1] + 1 if f else 0 for f in indices(items)]
    assert total == min(ring, sum(newest)) or total == ring, f"{what}: {total} events of a ring of {ring}"
    # What is missing of a thread is older than all that is kept: the sum of what is newest is at least what was done.
    late = [t for t in range(THREADS) if newest[t] and newest[t] < done[t]]
    assert not late, f"{what}: thread {late} had recorded more"


def trial(way, ring, kill_after=None):
    with tempfile.TemporaryDirectory() as directory:
        logdir, progress = os.path.join(directory, "run"), os.path.join(directory, "progress")
        with open(progress, "wb") as f:
            f.write(bytes(8 * THREADS))
        count = 10 ** 9 if kill_after is not None else rng.randrange(1, 400)
        die(logdir, progress, ring, count, way, kill_after)
        done = counts(progress) if way not in KEEPS else (counts(progress)[0],) + (0,) * (THREADS - 1)
        before = None
        for recovered in (False, True):
            run = dump(logdir, "runs")[0]
            assert run["clean_end"] is (way in KEEPS), run
            assert not run["diagnostics"], run["diagnostics"]
            read = {}
            for kind in ("executions", "traces"):
                items = [i for i in dump(logdir, kind) if i["op_type"] in ("Eager", "Traced")]
                what = f"{way}, ring {ring}, {kind}, recovered: {recovered}"
                if ring <= 0:
                    check_all(done, items, what)
                elif kind == "traces":
                    check_ring(done, items, ring, what)
                read[kind] = items
            assert before is None or read == before, "recover changed what is read"
            before = read
            subprocess.run([nanlens, "recover", logdir], check=True, stdout=subprocess.DEVNULL)
        assert not [name for name in os.listdir(logdir) if name.endswith(".live")]


def check_window(done, items, bad, what):
    """Of a ring, what led to the first NaN, what followed, and the newest; nothing twice, each thread in order."""
    found = [[] for _ in range(THREADS)]
    for item in items:
        thread, index = map(int, item["op_name"].split())
        found[thread].append(index)
    for thread, own in enumerate(found):
        assert own == sorted(set(own)), f"{what}: thread {thread} is out of order, or has repetitions"
    assert len(items) >= min(RING, sum(done)), f"{what}: {len(items)} events"
    if done[0] > bad:
        assert set(range(max(0, bad - 500), bad + 1)) <= set(found[0]), f"{what}: the window has gaps"
    if done[0] > bad + 500 + RING:
        assert len(items) >= min(bad, 500) + 1 + 500 + RING, f"{what}: {len(items)} events"


RING = 50


def trial_window(kill_after, bad):
    with tempfile.TemporaryDirectory() as directory:
        logdir, progress = os.path.join(directory, "run"), os.path.join(directory, "progress")
        with open(progress, "wb") as f:
            f.write(bytes(8 * THREADS))
        die(logdir, progress, RING, 10 ** 9, str(int(signal.SIGKILL)), kill_after, str(bad))
        before = None
        for recovered in (False, True):
            run = dump(logdir, "runs")[0]
            assert not run["diagnostics"], run["diagnostics"]
            items = dump(logdir, "executions")
            check_window(counts(progress), items, bad, f"killed after {kill_after} s, NaN in op {bad}, recovered: {recovered}")
            assert before is None or items == before, "recover changed what is read"
            before = items
            subprocess.run([nanlens, "recover", logdir], check=True, stdout=subprocess.DEVNULL)


tried = 0
for _ in range(2 * trials):
    trial_window(rng.random() * 0.05, rng.choice((0, 20, 700, 2000)))
    tried += 1
for ring in (-1, 100):
    for way in ENDS:
        trial(way, ring)
        tried += 1
    for _ in range(trials):
        # Most instants early: what is recorded later differs in length alone, and reading it is what takes the time.
        trial(str(int(signal.SIGKILL)), ring, kill_after=10 ** rng.uniform(-4, -1.5))
        tried += 1
print(f"{tried} programs died, nothing was lost")
