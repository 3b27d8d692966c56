"""Compares `nanlens dump` with the answers of TensorFlow's reader, field by field.

`compare.py NANLENS ANSWERS.json [PREFIX]`: the logdirs are the keys of ANSWERS, below PREFIX if given. Prints one line per
logdir and exits 1 if anything differs.
"""
import json
import os
import subprocess
import sys

# What identifies an item where the order is free. Alerts: ours are in order of time, the monitor's in order of reading.
KEYS = {
    "graphs": lambda x: x["graph_id"],
    "ops": lambda x: (x["graph_id"], x["op_name"]),
    "stack_frames": lambda x: x["id"],
    "devices": lambda x: x["device_id"],
    "alerts": lambda x: (x["execution_index"] or 0, x["graph_execution_trace_index"] or 0, x["output_slot"],
                         x["execution_index"] is None),
}


def dump(nanlens, logdir, kind):
    out = subprocess.run([nanlens, "dump", logdir, "--what", kind], check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


def differences(kind, ours, theirs):
    if len(ours) != len(theirs):
        yield f"{kind}: {len(ours)} items, TensorFlow has {len(theirs)}"
        return
    if kind in KEYS:
        ours, theirs = sorted(ours, key=KEYS[kind]), sorted(theirs, key=KEYS[kind])
    for i, (mine, reference) in enumerate(zip(ours, theirs)):
        for field, value in reference.items():
            if mine.get(field) != value:
                yield f"{kind}[{i}].{field}: {mine.get(field)!r}, TensorFlow has {value!r}"


def main():
    nanlens, answers_file = sys.argv[1:3]
    prefix = sys.argv[3] if len(sys.argv) > 3 else ""
    with open(answers_file) as f:
        answers = json.load(f)
    failed = 0
    compared = 0
    for logdir, kinds in answers.items():
        path = os.path.join(prefix, logdir)
        faults = []
        for kind, theirs in kinds.items():
            if theirs is None:
                continue
            faults += differences(kind, dump(nanlens, path, kind), theirs)
            compared += len(theirs)
        if dump(nanlens, path, "runs")[0]["diagnostics"]:
            faults.append(f"diagnostics: {dump(nanlens, path, 'runs')[0]['diagnostics'][:3]}")
        failed += bool(faults)
        print(f"{'DIFFERENT' if faults else 'equal':9} {logdir}")
        for fault in faults[:10]:
            print("   ", fault[:400])
    print(f"{compared} items of {len(answers)} logdirs compared, {failed} logdirs differ")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
