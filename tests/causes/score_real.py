"""Scores `nanlens why` on programs the size of real ones: `score_real.py NANLENS OUT_DIR [NAME...]`.

OUT_DIR holds the logdirs that real_programs.py made. Right is: the headline is the culprit's op at its line, it explains
most of what is bad, and there are few other causes. Prints a table; exits with 1 if any answer is wrong.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import real_programs  # noqa: E402,F401
from real_registry import EXPECTED, MODES  # noqa: E402
from score import answer  # noqa: E402


def site(cause):
    return cause["op_type"], cause["path"], cause["line"]


def judge(expected, mode, found):
    """(right, what was found)"""
    head = found["headline"]
    if head is None:
        return False, f"no cause ({found['total']} bad)"
    sites = {site(c) for c in found["causes"]}
    leading = {site(c) for c in found["causes"] if not c["may_follow"]} if expected.followers else sites
    reach = sum(c["reach"] for c in found["causes"] if site(c) == site(head))
    share = reach / found["total"]
    right_op = any(head["op_type"].startswith(c) for c in expected.causes)
    path, line = (head["gradient_of_path"], head["gradient_of_line"]) if head["gradient_of_line"] else (head["path"], head["line"])
    same_file = os.path.basename(path or "") == os.path.basename(expected.file)
    right_line = not expected.lines or (same_file and line in expected.lines)
    if mode in expected.unknown_in:
        right_op, right_line = right_op or head["class"] == "unknown", True
    right = right_op and right_line and share >= expected.share and len(leading) <= expected.most and len(sites) <= expected.most + expected.followers
    text = f"{head['op_type'][:24]}:{line} {head['class']} {100 * share:.0f}% of {found['total']}, {len(sites)} causes"
    return right, text + ("" if right_op else " (op)") + ("" if right_line else " (line)")


def main():
    nanlens, out = sys.argv[1:3]
    names = sys.argv[3:] or list(EXPECTED)
    totals = dict.fromkeys(MODES, 0)
    for name in names:
        cells = []
        for mode in MODES:
            right, text = judge(EXPECTED[name], mode, answer(nanlens, os.path.join(out, f"{name}.{mode}")))
            totals[mode] += right
            cells.append(("  " if right else "X ") + text)
        print(f"{name:22}" + "".join(f"{c:62}" for c in cells))
    print("real programs right: " + ", ".join(f"{m} {n} of {len(names)}" for m, n in totals.items()))
    return 0 if all(n == len(names) for n in totals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
