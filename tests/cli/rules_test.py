"""Rules that a program judges by while it runs, as its environment and `nanlens run` name them, and what the command says of their hits
afterwards: `rules_test.py NANLENS RULED RULED_HEADERS`."""
import json
import os
import signal
import subprocess
import sys
import tempfile

nanlens, ruled, headers = (os.path.abspath(a) for a in sys.argv[1:4])
work = tempfile.TemporaryDirectory()
DEAD = "dead relu: zero>95% type:Relu for 3 calls -- lower the rate"


def run(*args, code=0, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith("NANLENS")}
    r = subprocess.run(args, cwd=work.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**env, **variables})
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout.decode(), r.stderr.decode()


def check(logdir, *more, code):
    return json.loads(run(nanlens, "check", logdir, "--format", "json", *more, code=code)[0])


def dump(logdir, kind):
    return [json.loads(line) for line in run(nanlens, "dump", "--what", kind, logdir)[0].splitlines()]


# The environment alone: the first hit of each rule is told, and is on record; what can't be read is told, with its place.
told = run(ruled, NANLENS_LOGDIR="told", NANLENS_RULES=f"{DEAD}; odd: typ:Log ;warning slow: size=1 type:Rate pos>0;never: nan>0")[1]
assert told.count("nanlens: ") == 3, told
assert 'nanlens: error: the rule "dead relu" holds of Relu:0 at ' in told and "ruled.cpp:14: zero is 100% of 2, for 3 calls (lower the rate)" in told, told
assert "odd: typ:Log\n     ^^^\n" in told, told
hits = [t for t in dump("told", "traces") if t["rule_hits"]]
assert [t["op_name"] for t in hits] == ["Rate", "Relu"] and hits[1]["rule_hits"] == [
    {"rule": "dead relu", "level": "error", "expression": "zero>95% type:Relu for 3 calls", "reason": "lower the rate", "output_slot": 0, "hits": 1,
     "stopped": False}], hits
(about,) = dump("told", "runs")
assert [(r["rule"], r["hits"], r["stopped"]) for r in about["rules"]] == [("dead relu", 5, False), ("slow", 10, False), ("never", 0, False)], about

# They are findings of a check that is given no rule, at their levels, and the same ones where it is given the same rule.
for given in ([], ["--rule", DEAD]):
    found = check("told", *given, code=1)
    assert [(f["rule"], f["level"], f["occurrences"]) for f in found["findings"]] == [("dead relu", "error", 5), ("slow", "warning", 10)], found["findings"]
    assert found["findings"][0]["sentence"] == ('The rule "dead relu" holds of Relu:0: zero is 100% of 2, for 3 calls. '
                                                "While the program ran, it held 5 times."), found["findings"]
    assert found["findings"][0]["place"]["line"] == 14, found["findings"]
write = os.path.join(work.name, "some.rules")
with open(write, "w", encoding="utf-8") as f:
    f.write("# of ours\nnote slow: size=1 type:Rate pos>0\n")
run(ruled, NANLENS_LOGDIR="of_file", NANLENS_RULES=f"@{write}\nnote semicolon: op:; or (size=1 type:Mean)\n")
assert [f["rule"] for f in check("of_file", code=0)["findings"]] == ["slow", "semicolon"]
assert len(dump("of_file", "runs")[0]["rules"]) == 2

# A rule stops the program: the logdir is whole, and says so. A killed one has lost nothing either.
told = run(ruled, NANLENS_LOGDIR="stopped", NANLENS_RULES=DEAD, NANLENS_RULES_STOP="1", code=97)[1]
assert "; the program is stopped" in told, told
assert dump("stopped", "runs")[0]["clean_end"] is True
assert len([t for t in dump("stopped", "traces") if t["op_name"] == "Relu"]) == 6
stopped = 'The program was stopped by its rule "dead relu" at ruled.cpp:14 (1 hit).'
for command in ("why", "report"):
    assert stopped in run(nanlens, command, "stopped")[0], command
assert json.loads(run(nanlens, "why", "stopped", "--json")[0])["rules"][0]["stopped"] is True
(finding,) = check("stopped", code=1)["findings"]
assert finding["sentence"].endswith(" While the program ran, it held once, and stopped it."), finding
run(ruled, "kill", NANLENS_LOGDIR="killed", NANLENS_RULES=DEAD, code=-signal.SIGKILL)
assert [(f["rule"], f["occurrences"]) for f in check("killed", code=1)["findings"]] == [("dead relu", 5)]
assert 'rule "dead relu" held at ruled.cpp:14' in run(nanlens, "why", "killed")[0]
run(ruled, "nan", NANLENS_LOGDIR="nan", NANLENS_RULES=DEAD)
assert 'rule "dead relu" held at ruled.cpp:14 (5 hits).' in run(nanlens, "why", "nan")[0]

# What a ring has left is too little to judge again: the hit is found all the same.
run(ruled, NANLENS_LOGDIR="ring", NANLENS_RULES=DEAD, NANLENS_CIRCULAR_BUFFER_SIZE="2", NANLENS_PINNED_EVENTS="0")
(finding,) = check("ring", code=1)["findings"]
assert finding["rule"] == "dead relu" and finding["place"]["line"] == 14, finding

# `nanlens run` names them, too, and reads them first.
out, told = run(nanlens, "run", "--logdir", "run", "--rule", DEAD, "--rules", write, "--stop-on-rule", "--", ruled, code=97)
assert stopped[:-1] in told, told
assert run(nanlens, "run", "--logdir", "none", "--rule", "x: first", "--", ruled, code=2)[1].endswith(
    'judged by `nanlens check` alone, not while a program runs\nx: first\n   ^^^^^\n')
assert not os.path.exists(os.path.join(work.name, "none"))

# A program of headers alone that does not include those of rules says what is missing, and goes on.
told = run(headers, NANLENS_LOGDIR="headers", NANLENS_RULES=DEAD)[1]
assert "include <nanlens/capture/rules.hpp>" in told, told
print("rules of programs hold, stop and are told")
