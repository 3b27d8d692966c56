"""Scores `nanlens why` on programs with a known culprit: `score.py NANLENS OUT_DIR [MODE...]`.

OUT_DIR holds the logdirs that programs.py made. Prints a table; exits with 1 if any answer is wrong. "unknown" is right only in
modes where the record really can't tell.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402


def answer(nanlens, logdir):
    text = subprocess.run([nanlens, "why", "--json", logdir], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text)


def judge(expected, mode, found):
    """(right, what was found)"""
    cause, sentences = expected["cause"], expected["sentences"]
    head = found["headline"]
    if cause is None:
        return head is None and found["total"] == 0, "nothing" if head is None else head["id"]
    if cause == "expected":
        ok = head is None and len(found["expected"]) == 1
        if mode in expected["unknown_in"]:
            ok = ok or (head is not None and (head["class"] in ("source", "unknown") or head["id"][3:] in sentences))
        return ok, "expected" if head is None else f"{head['op_type']} {head['id']}"
    if head is None:
        return False, "no cause"
    kind = f"{head['op_type']} {head['id'][3:]} ({head['reach']}/{found['total']})"
    causes = (cause,) if isinstance(cause, str) else cause
    if head["class"] == "unknown":
        return mode in expected["unknown_in"], kind
    right = head["op_type"] in causes or ("data" in causes and head["class"] == "source")
    told = sentences == [None] or head["id"][3:] in sentences
    if mode in expected["unknown_in"]:
        told = True
    if mode in expected["alone"] and (len(found["causes"]) > 1 or head["reach"] < found["total"]):
        return False, f"{kind}, {len(found['causes'])} causes"
    if expected["sure"] and head["confidence"] < 1:
        return False, f"{kind}, not for certain"
    return right and told and expected["says"] in head["sentence"], kind


def main():
    nanlens, out = sys.argv[1:3]
    modes = sys.argv[3:] or ["FULL_HEALTH", "CONCISE_HEALTH", "CURT_HEALTH"]
    wrong = 0
    totals = {m: 0 for m in modes}
    for name, expected in programs.EXPECTED.items():
        cells = []
        for mode in modes:
            try:
                right, found = judge(expected, mode, answer(nanlens, os.path.join(out, f"{name}.{mode}")))
            except (subprocess.CalledProcessError, json.JSONDecodeError) as error:
                right, found = False, f"failed: {error}"
            totals[mode] += right
            wrong += not right
            cells.append(("  " if right else "X ") + found)
        print(f"{name:28}" + "".join(f"{c:44}" for c in cells))
    print("right: " + ", ".join(f"{m} {n} of {len(programs.EXPECTED)}" for m, n in totals.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
