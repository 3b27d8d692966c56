"""The nanlens command from outside: `cli_test.py NANLENS MNIST HELLO`. Uses the walkthrough's recording."""
import ast
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

nanlens, mnist, hello = sys.argv[1:4]
for display in ("DISPLAY", "WAYLAND_DISPLAY"):
    os.environ.pop(display, None)  # without one, a bare LOGDIR is reported on in text
work = tempfile.mkdtemp()


def run(*args, code=0, env=None):
    r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout, r.stderr


def rows(logdir, kind, *more):
    return [json.loads(line) for line in run(nanlens, "dump", logdir, "--what", kind, *more)[0].splitlines()]


def path(name):
    return os.path.join(work, name)


def record(name, *flags, mode="FULL_HEALTH", ring="-1", env=None):
    out, _ = run(mnist, "--dump_dir", path(name), "--dump_tensor_debug_mode", mode, "--dump_circular_buffer_size", ring, *flags, env=env)
    return [float(a) for a in re.findall(r": ([0-9.]+)$", out, re.M)]


# The walkthrough's structure.
accuracy = record("bug")
bug = path("bug")
assert len(set(accuracy[1:])) == 1 and accuracy[1] < 0.2, accuracy
traces, alerts = rows(bug, "traces"), rows(bug, "alerts")
assert len(traces) == 600
assert all(t["debug_tensor_value"][5:8] == [0, 0, 0] for t in traces[:88])
assert (traces[85]["op_name"], traces[88]["op_name"]) == ("probs", "Log")
assert traces[85]["debug_tensor_value"][9] > 0 and traces[88]["debug_tensor_value"][5] > 0
assert len(alerts) == 499
assert sum(a["execution_index"] is None for a in alerts) == 353
assert alerts[0]["graph_execution_trace_index"] == 88

# What was in memory when the first NaN came: where, in which input elements, and the values themselves.
log = traces[88]
(seen,), (output,) = log["input_evidence"], log["output_evidence"]
assert all(t["input_evidence"] is None for t in traces[:88])
assert output["counts"] == [int(n) for n in log["debug_tensor_value"][5:11]], output
assert (seen["counts"][4], seen["looked_at"]) == (output["counts"][0], True), seen
assert seen["positions"] == output["positions"] and set(seen["values"][:2]) == {0}, seen
run(nanlens, "tensor", bug, "--row", "88", "--input", "0", "-o", path("probs.npy"))
with open(path("probs.npy"), "rb") as f:
    data = f.read()
header = 10 + struct.unpack("<H", data[8:10])[0]
assert data[:8] == b"\x93NUMPY\x01\0" and header % 64 == 0, data[:16]
facts = ast.literal_eval(data[10:header].decode())
assert (facts["descr"], list(facts["shape"])) == ("<f4", seen["shape"]), facts
values = struct.unpack(f"<{(len(data) - header) // 4}f", data[header:])
assert (len(values), values.count(0)) == (facts["shape"][0] * facts["shape"][1], seen["counts"][4]), len(values)
assert values[seen["positions"][0] * facts["shape"][1] + seen["positions"][1]] == 0
shown = run(nanlens, "tensor", bug, "--row", "88")[0]
assert shown.startswith("float32 [") and f"[{output['positions'][0]}, {output['positions'][1]}]: −∞" in shown, shown
assert "not on record" in run(nanlens, "tensor", bug, "--row", "10", code=2)[1]

by_kind = {}
for a in alerts:
    if a["execution_index"] is not None:
        key = re.sub(r"[_0-9]+$", "", a["op_type"])
        by_kind[key] = by_kind.get(key, 0) + 1
assert by_kind == {"__forward_model": 48, "__forward_loss": 26, "__inference___backward_loss": 18,
                   "__inference___backward_model": 45, "__inference_model": 9}, by_kind
per_call = {}
for t in traces:
    per_call[t["call_id"]] = per_call.get(t["call_id"], 0) + 1
assert set(per_call.values()) == {6, 13, 16}
report = run(nanlens, "report", bug)[0]

# Why: one cause, every alert explained, by the sentence that names line, zeros and softmax; in all modes that can tell.
why = json.loads(run(nanlens, "why", bug, "--json")[0])
head = why["headline"]
assert (why["total"], why["explained"], len(why["causes"])) == (499, 499, 1), why
assert (head["id"], head["op_type"], head["class"], head["reach"]) == ("rc.log_softmax", "Log", "made", 499), head
assert head["event"]["row"] == 88 and head["path"].endswith("model.cpp") and head["line"] > 0, head
for part in ("Log at model.cpp:", "zeros of probs", "Softmax underflowed", "All 499 bad tensors follow"):
    assert part in head["sentence"] + head["consequence"], head
assert why["chain"][0]["row"] == 88 and why["chain"][0]["class"] == "made", why["chain"][:2]
assert [k["removed"]["op_type"][:17] for k in why["removed_by"]] == ["__inference_model"], why["removed_by"]
text = run(nanlens, "why", bug)[0]
for part in ("which is Softmax:0 (row 84 in model)", "The last time it was fine: Log:0 (row 28 in loss)", "Removed again by:"):
    assert part in text, (part, text)
last = json.loads(run(nanlens, "why", bug, "--row", "599", "--json")[0])
assert last["event"]["class"] == "passed" and last["chain"][0]["row"] == 88 and last["chain"][-1]["row"] == 599
assert "made here" in run(nanlens, "why", bug, "--row", "88")[0]
assert json.loads(run(nanlens, "why", bug, "--execution", "19", "--json")[0])["event"]["class"] == "relay"
assert "there is no row 600" in run(nanlens, "why", bug, "--row", "600", code=2)[1]
for mode in ("CONCISE_HEALTH", "CURT_HEALTH", "FULL_TENSOR"):
    record(mode, mode=mode)
    other = json.loads(run(nanlens, "why", path(mode), "--json")[0])
    assert (other["headline"]["op_type"], other["headline"]["reach"]) == ("Log", 499), (mode, other["headline"])
# A ring that has lost the rows of the first bad call: still the right call and, from its inputs, the right op.
record("pinned", ring="200")  # but if it was told not to, it keeps them
pinned = json.loads(run(nanlens, "why", path("pinned"), "--json")[0])
assert (pinned["headline"]["id"], pinned["headline"]["op_type"]) == ("rc.log_softmax", "Log"), pinned["headline"]
record("ring200", "--dump_pinned_sites", "0", ring="200")
lost = json.loads(run(nanlens, "why", path("ring200"), "--json")[0])
assert (lost["headline"]["id"], lost["headline"]["op_type"]) == ("rc.opaque", "Log"), lost["headline"]
assert lost["headline"]["reach"] >= 0.99 * lost["total"], (lost["headline"]["reach"], lost["total"])
record("shape", mode="SHAPE")
assert "no health data" in run(nanlens, "why", path("shape"))[0]
for part in ("Why: Log at model.cpp:", "499 alerts", "Log:0 (Log) in graph loss, row 88", "input probs:0 (row 85)", "model.cpp:", 'f.op("Log"'):
    assert part in report, (part, report)

# The remedies.
record("clip", "--fix", "clip")
run(nanlens, "check", path("clip"))
assert record("entropy", "--fix", "cross_entropy", "--max_steps", "60")[-1] > 0.95
run(nanlens, "check", path("entropy"))

# check: exit codes.
line = run(nanlens, "check", bug, code=1)[0]
assert line.count("\n") == 2 and "looked at 600 of 600 graph tensors" in line and "499 bad tensors; why: Log at model.cpp:" in line and "(Log:0, row 88)" in line, line
record("shape", mode="SHAPE")
assert "nothing could be checked" in run(nanlens, "check", path("shape"), code=3)[0]
run(nanlens, "check", path("missing"), code=2)
run(nanlens, "check", code=2)
run(nanlens, "nonsense", code=2)
assert run(nanlens, bug)[0] == report
assert "here is the report" in run(nanlens, bug)[1]
assert "can't start the viewer" in run(nanlens, "view", bug, code=2)[1]
os.symlink(bug, path("report"))
assert run("sh", "-c", f"cd {work} && {os.path.abspath(nanlens)} ./report")[0] == report
os.mkdir(path("empty"))
assert "no tfdbg2 logdir" in run(nanlens, "report", path("empty"), code=2)[1]
damaged = path("damaged")
run("cp", "-r", path("clip"), damaged)
with open(os.path.join(damaged, [f for f in os.listdir(damaged) if f.endswith("traces")][0]), "r+b") as f:
    f.seek(30)
    f.write(b"\xff")
assert "incomplete" in run(nanlens, "check", damaged)[0]
assert "as --strict demands" in run(nanlens, "check", damaged, "--strict", code=3)[0]

# A recording that did not end in order is never clean; with a NaN on record the NaN counts.
for name, code in (("clip", 3), ("bug", 1)):
    cut = path("cut-" + name)
    run("cp", "-r", path(name), cut)
    metadata = os.path.join(cut, [f for f in os.listdir(cut) if f.endswith("metadata")][0])
    with open(metadata, "r+b") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        f.truncate(16 + length)  # the record that marks the end is gone
    out = run(nanlens, "check", cut, code=code)[0]
    assert "did not end in order" in out and "clean" not in out, out
    assert "did not end in order" in run(nanlens, "report", cut)[0]
    assert json.loads(run(nanlens, "why", cut, "--json")[0])["clean_end"] is False
# Several runs in one logdir: every bad one is answered for, the first in time leading.
several = path("several")
record("several")
record("several", ring="200")
record("several", "--fix", "clip")
answer = json.loads(run(nanlens, "why", several, "--json")[0])
assert answer["headline"]["id"] == "rc.log_softmax" and len(answer["other_runs"]) == 1, answer
text = run(nanlens, "why", several)[0]
assert text.count("Run ") == 2 and "1 other run in this logdir without a NaN" in text, text
assert "in 2 runs, 2 findings; why: Log at" in run(nanlens, "check", several, code=1)[0]

# Two ranks of one run: the answer names the one where it began, in words and as data. Their numbers of calls, tensors
# and devices are the same; nothing of one leads to the other.
for name in ("ranks", "hosts"):
    for flags in (("--fix", "clip"), ()):
        before = set(os.listdir(path(name))) if flags == () else set()
        record(name, *flags, env={"NANLENS_RUN_ID": "cafecafe"})
    second = sorted(set(os.listdir(path(name))) - before)
    host = second[0].split(".")[2]
    if name == "hosts":
        for file in second:
            os.rename(os.path.join(path(name), file), os.path.join(path(name), file.replace(f".{host}.", ".other.")))
        host, second = "other", [file.replace(f".{host}.", ".other.") for file in second]
    answer = json.loads(run(nanlens, "why", path(name), "--json")[0])
    head = answer["headline"]
    assert (answer["total"], answer["explained"], len(answer["causes"])) == (499, 499, 1), answer
    assert (head["id"], head["reach"], head["host"]) == ("rc.log_softmax", 499, host), head
    assert second[0].startswith(os.path.basename(head["event"]["file_set"])), (second, head["event"])
    assert head["event"]["host_name"] == host and head["event"]["device_name"], head["event"]
    assert all(step["file_set"] == head["event"]["file_set"] for step in answer["chain"]), answer["chain"]
    words = "on host other" if name == "hosts" else f"in process 2 of 2 (host {host})"
    text = run(nanlens, "why", path(name))[0]
    assert words in text and words in head["sentence"], (words, text)
    assert words in run(nanlens, "check", path(name), code=1)[0]

# dump: ranges, kinds, raw.
assert [r["index"] for r in rows(bug, "traces", "--begin", "3", "--end", "5")] == [3, 4]
assert rows(bug, "executions", "--begin", "9999") == []
for kind in ("runs", "graphs", "ops", "source_files", "stack_frames", "devices"):
    assert rows(bug, kind), kind
assert "lines" in rows(bug, "source_files", "--lines")[0]
run(nanlens, "dump", bug, "--what", "nonsense", code=2)
metadata = [f for f in os.listdir(bug) if f.endswith("metadata")][0]
raw = [json.loads(line) for line in run(nanlens, "dump", "--raw", os.path.join(bug, metadata))[0].splitlines()]
assert len(raw) == 2 and raw[0]["debug_metadata"]["file_version"] == "debug.Event:1"

# pack and unpack: the same answers from the archive.
run(nanlens, "pack", bug, "-o", path("bug.nanlens"))
for kind in ("traces", "executions", "ops", "alerts"):
    assert rows(path("bug.nanlens"), kind) == rows(bug, kind)
run(nanlens, "unpack", path("bug.nanlens"), "-C", path("unpacked"))
assert run("diff", "-r", bug, path("unpacked"))[0] == ""
assert "File exists" in run(nanlens, "unpack", path("bug.nanlens"), "-C", path("unpacked"), code=2)[1]
with open(path("junk"), "wb") as f:
    f.write(b"junk" * 1000)
assert "nor an archive" in run(nanlens, "report", path("junk"), code=2)[1]

# One of a logdir's files stands for the logdir; an archive opens by any name.
metadata = next(n for n in sorted(os.listdir(bug)) if n.endswith(".metadata"))
assert rows(os.path.join(bug, metadata), "alerts") == rows(bug, "alerts")
os.rename(path("bug.nanlens"), path("BUG.TAR.ZST"))
assert rows(path("BUG.TAR.ZST"), "alerts") == rows(bug, "alerts")

# Recording from outside, by environment variables alone; bad ones say so and record nothing.
env = {"NANLENS_LOGDIR": path("env"), "NANLENS_RUN_ID": "feedbeef"}
run(mnist, "--max_steps", "2", env=env)
assert rows(path("env"), "runs")[0]["num_traces"] == 120 and rows(path("env"), "runs")[0]["run_id"] == "feedbeef"
for name, value in {"NANLENS_MODE": "LOTS", "NANLENS_PINNED_EVENTS": "many", "NANLENS_PINNED_SITES": "1x", "NANLENS_STATISTICS": "yes",
                    "NANLENS_FP_FLAGS": "2", "NANLENS_EVERY": "0 ", "NANLENS_STEPS": "2"}.items():
    error = run(mnist, "--max_steps", "1", env={"NANLENS_LOGDIR": path("bad"), name: value})[1]
    assert error.count("\n") == 1 and name in error and not os.path.exists(path("bad"))
# Some steps only: what was left out is told wherever somebody might think that it was clean.
sampled = path("sampled")
run(mnist, "--max_steps", "5", "--fix", "clip", env={"NANLENS_LOGDIR": sampled, "NANLENS_EVERY": "2"})
(of,) = rows(sampled, "runs")
assert of["num_traces"] == 3 * 61 and of["left_out"]["steps"] == 2 and of["left_out"]["ops"] > 100, of
words = f"2 steps and {of['left_out']['ops']} ops (in "
assert "incomplete: " + words in run(nanlens, "check", sampled)[0] and "clean as far as it was recorded" in run(nanlens, "check", sampled)[0]
run(nanlens, "check", sampled, "--strict", code=3)
for command in ("why", "report"):
    assert words in run(nanlens, command, sampled)[0], run(nanlens, command, sampled)
assert json.loads(run(nanlens, "why", sampled, "--json")[0])["left_out"] == of["left_out"]
late = path("late")
run(mnist, "--max_steps", "3", env={"NANLENS_LOGDIR": late, "NANLENS_STEPS": "2.."})
assert "2 steps and " in run(nanlens, "why", late)[0] and "the answer may miss a step" in run(nanlens, "why", late)[0]
kept = {}
for name, more in {"none": {"NANLENS_PINNED_SITES": "0"}, "one": {"NANLENS_PINNED_SITES": "1"},
                   "statistics": {"NANLENS_PINNED_SITES": "1", "NANLENS_STATISTICS": "1"}}.items():
    env = {"NANLENS_LOGDIR": path(f"ring.{name}"), "NANLENS_CIRCULAR_BUFFER_SIZE": "30", "NANLENS_PINNED_EVENTS": "20", **more}
    run(mnist, "--max_steps", "4", "--test_size", "100", env=env)
    kept[name] = rows(env["NANLENS_LOGDIR"], "traces")
assert len(kept["none"]) == 30 and len(kept["one"]) > 60, kept.keys()
assert kept["one"][-1]["op_name"] == kept["none"][-1]["op_name"] and "Log" in [t["op_name"] for t in kept["one"][:41]]
traces_of = lambda name: sum(os.path.getsize(os.path.join(path(name), f)) for f in os.listdir(path(name)) if f.endswith("traces"))
assert traces_of("ring.statistics") > traces_of("ring.one"), "statistics"
error = run(mnist, env={"NANLENS_CHECK_NUMERICS": "1"}, code=1)[1]
assert 'graph op "Log"' in error and "Tensor had -Inf values" in error

# An uncaught exception: what was recorded before it is all there, and the recording has ended in order.
run(hello, path("thrown"), env={"NANLENS_CHECK_NUMERICS": "1"}, code=-6)
thrown = rows(path("thrown"), "runs")[0]
assert thrown["num_executions"] == 2 and thrown["num_alerts"] == 1 and thrown["clean_end"] is True
print("the command works as described")
