"""What `nanlens why` says of the programs of several ranks, recorded by ranks.py: `score_ranks.py NANLENS LOGDIRS NAME...`.

Ends with 1 if it says something else of any of them than it must.
"""
import os
import sys

import ranks
import score


def wrong_answers(nanlens, logdirs, names):
    wrong = 0
    for name in names:
        expected = ranks.EXPECTED[name]
        found = score.answer(nanlens, os.path.join(logdirs, name))
        is_right, head = ranks.right(expected, found), found["headline"]
        wrong += not is_right
        said = "nothing wrong" if head is None else f"{head['sentence']} {head['consequence']}"
        print(f"{name:28}{'  ' if is_right else 'X '}{said}" + ("" if is_right else f"; expected {expected}"))
    print(f"right: {len(names) - wrong} of {len(names)}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if wrong_answers(sys.argv[1], sys.argv[2], sys.argv[3:]) else 0)
