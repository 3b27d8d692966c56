"""Scores `nanlens why` on the programs that programs.py recorded: `score.py NANLENS OUT_DIR`. Prints a table; exits with 1 if any
answer is wrong."""
import json
import os
import subprocess
import sys

import programs


def answer(nanlens, logdir):
    return json.loads(subprocess.run([nanlens, "why", "--json", logdir], stdout=subprocess.PIPE, check=True).stdout)


def judge(expected, found):
    """(right, what was found)"""
    head = found["headline"]
    if head is None:
        return expected["op"] is None, "nothing wrong"
    place = f"{os.path.basename(head['path'] or '?')}:{head['line']}"
    said = f"{head['op_type']} {place} {head['class']} {head['id']} ({head['reach']}/{found['total']}, {len(found['causes'])} causes)"
    right = (head["op_type"] == expected["op"] and place == f"programs.py:{expected['line']}" and
             head["class"] == ("source" if expected["arrives"] else "made"))
    if expected["name"] is not None:
        said += f" {head['op_name']!r}"
        right = right and head["op_name"] == expected["name"]
    text = f"{head['sentence']} {head['consequence']}"
    if not all(words in text for words in expected["says"]):
        return False, f"{said}: {text}"
    return right, said


def main():
    nanlens, out = sys.argv[1:3]
    wrong = 0
    for name in sys.argv[3:] or programs.EXPECTED:
        expected = programs.EXPECTED[name]
        try:
            right, found = judge(expected, answer(nanlens, os.path.join(out, name)))
        except (subprocess.CalledProcessError, json.JSONDecodeError) as error:
            right, found = False, f"failed: {error}"
        wrong += not right
        print(f"{name:28}{'  ' if right else 'X '}{found}" + ("" if right else f"; expected {expected}"))
    print(f"right: {len(programs.EXPECTED) - wrong} of {len(programs.EXPECTED)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
