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
assert 'nanlens: error: the rule "dead relu" holds of Relu:0 at ' in told and "ruled.cpp:15: zero is 100% of 2, for 3 calls (lower the rate)" in told, told
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
    assert found["findings"][0]["place"]["line"] == 15, found["findings"]
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
stopped = 'The program was stopped by its rule "dead relu" at ruled.cpp:15 (1 hit).'
for command in ("why", "report"):
    assert stopped in run(nanlens, command, "stopped")[0], command
assert json.loads(run(nanlens, "why", "stopped", "--json")[0])["rules"][0]["stopped"] is True
(finding,) = check("stopped", code=1)["findings"]
assert finding["sentence"].endswith(" While the program ran, it held once, and stopped it."), finding
run(ruled, "kill", NANLENS_LOGDIR="killed", NANLENS_RULES=DEAD, code=-signal.SIGKILL)
assert [(f["rule"], f["occurrences"]) for f in check("killed", code=1)["findings"]] == [("dead relu", 5)]
assert 'rule "dead relu" held at ruled.cpp:15' in run(nanlens, "why", "killed")[0]
run(ruled, "nan", NANLENS_LOGDIR="nan", NANLENS_RULES=DEAD)
assert 'rule "dead relu" held at ruled.cpp:15 (5 hits).' in run(nanlens, "why", "nan")[0]

# What a ring has left is too little to judge again: the hit is found all the same.
run(ruled, NANLENS_LOGDIR="ring", NANLENS_RULES=DEAD, NANLENS_CIRCULAR_BUFFER_SIZE="2", NANLENS_PINNED_EVENTS="0")
(finding,) = check("ring", code=1)["findings"]
assert finding["rule"] == "dead relu" and finding["place"]["line"] == 15, finding

# `nanlens run` names them, too, and reads them first.
out, told = run(nanlens, "run", "--logdir", "run", "--rule", DEAD, "--rules", write, "--stop-on-rule", "--", ruled, code=97)
assert stopped[:-1] in told, told
assert run(nanlens, "run", "--logdir", "none", "--rule", "x: first", "--", ruled, code=2)[1].endswith(
    'judged by `nanlens check` alone, not while a program runs\nx: first\n   ^^^^^\n')
assert not os.path.exists(os.path.join(work.name, "none"))

# A program of headers alone that does not include those of rules says what is missing, and goes on.
told = run(headers, NANLENS_LOGDIR="headers", NANLENS_RULES=DEAD)[1]
assert "include <nanlens/capture/rules.hpp>" in told, told
# Whatever a program's rules left open is told: by the program, by `run`, and by a check that judges again by what is on record.
crowd = "warning crowd: zero>0 type:Crowd for 2 calls"
out, told = run(nanlens, "run", "--logdir", "many", "--rule", crowd, "--rule", "conv: zero>0 type:Conv", "--", ruled, "many")
assert told.count("nanlens: not judged: rules that ask several calls of an output follow 65536 outputs, and there are more") == 1, told
gaps = ['not judged: 6,464 rows by the program\'s rule "crowd", of more outputs than such rules follow', "the program's rules that never judged anything: conv"]
assert [line for line in told.splitlines() if line.startswith("nanlens: not judged: 6") or "never" in line] == ["nanlens: " + gap for gap in gaps], told
(about,) = dump("many", "runs")
assert [(r["rule"], r["hits"], r["not_followed"], r["idle"]) for r in about["rules"]] == [("crowd", 0, 6464, False), ("conv", 0, 0, True)], about
for gap in gaps:
    assert f"many: {gap}\n" in run(nanlens, "check", "many")[0], gap
assert gaps[0] in run(nanlens, "check", "many", "--format", "github")[0]
assert [(r["name"], r["rows_judged"], r["not_followed"], r["idle"]) for r in check("many", code=0)["rules"]] == [
    ("crowd", 72000, gaps[0], False), ("conv", 0, None, True)]
run(ruled, NANLENS_LOGDIR="unrecorded", NANLENS_RULES="hot: absmax>1 type:Rate")
assert 'rule "hot" could not be judged: no recording of absmax' in run(nanlens, "check", "unrecorded", code=3)[0]

# Processes that record into one logdir: what became of their rules adds up, in one run and in several.
for number in range(2):
    run(ruled, NANLENS_LOGDIR="twice", NANLENS_RULES=DEAD, NANLENS_RUN_ID="both")
assert 'rule "dead relu" held at ruled.cpp:15 (10 hits).' in run(nanlens, "why", "twice")[0], run(nanlens, "why", "twice")[0]
for number in range(2):
    run(ruled, NANLENS_LOGDIR="twice", NANLENS_RULES=DEAD, NANLENS_RUN_ID=f"other{number}")
assert {r["run_id"]: [rule["hits"] for rule in r["rules"]] for r in dump("twice", "runs")} == {"both": [10], "other0": [5], "other1": [5]}
assert "While the program ran, it held 20 times." in check("twice", code=1)["findings"][0]["sentence"]

# Only regular files are read for rules, and nothing is waited for.
pipe = os.path.join(work.name, "pipe")
os.mkfifo(pipe)
for path in (pipe, "/dev/zero"):
    unread = f"nanlens: can't read the rules in '{path}': it is no regular file\n"
    assert run(nanlens, "check", "told", "--rules", path, code=2)[1] == unread
    assert run(nanlens, "run", "--logdir", "none", "--rules", path, "--", ruled, code=2)[1] == unread
    told = run(ruled, NANLENS_LOGDIR="odd", NANLENS_RULES=f"@{path}; note slow: size=1 type:Rate")[1]
    assert unread in told and 'the rule "slow" holds' in told, told
assert run(nanlens, "run", "--logdir", "none", "--rules", work.name, "--", ruled, code=2)[1] == f"nanlens: '{work.name}' is a directory, not a file of rules\n"

# Of rules with one name the nearest is judged by, and a line says so: --rule, then --rules, the logdir's, the project's.
os.makedirs(os.path.join(work.name, ".git"))
for path, rules in {"nanlens.rules": "note a: size=1\nnote b: size=1\nnote c: size=1\n", "told/nanlens.rules": "note a: size=2\nnote b: size=2\n",
                    "one.rules": "note a: size=3\nnote b: size=3\n", "two.rules": "note a: size=4\n"}.items():
    with open(os.path.join(work.name, path), "w", encoding="utf-8") as f:
        f.write(rules)


def judged_by(*args):
    out, told = run(nanlens, "check", "told", "--format", "json", *args, code=1)
    return {r["name"]: r["expression"] for r in json.loads(out)["rules"] if len(r["name"]) == 1}, sorted(told.splitlines())


def hidden(rule, far, near):
    return f'nanlens: the rule "{rule}" of {far} is left out: {near} has one of that name'


near = os.path.join("told", "nanlens.rules")
assert judged_by() == ({"a": "size=2", "b": "size=2", "c": "size=1"}, [hidden("a", "nanlens.rules", near), hidden("b", "nanlens.rules", near)])
assert judged_by("--rule", "note a: size=5") == ({"a": "size=5", "b": "size=2", "c": "size=1"}, sorted(
    [hidden("a", near, "--rule"), hidden("a", "nanlens.rules", "--rule"), hidden("b", "nanlens.rules", near)]))
assert judged_by("--rules", "one.rules", "--rules", "two.rules", "--rule", "note b: size=5") == ({"a": "size=4", "b": "size=5"}, [
    hidden("a", "one.rules", "two.rules"), hidden("b", "one.rules", "--rule")])
assert judged_by("--rule", "note a: size=2", "--rules", "one.rules") == ({"a": "size=2", "b": "size=3"}, [hidden("a", "one.rules", "--rule")])
assert 'another rule is called "a"' in run(nanlens, "check", "told", "--rule", "a: bad", "--rule", "a: ok", code=2)[1]
told = run(nanlens, "run", "--logdir", "nearest", "--rules", "one.rules", "--rule", "note a: size=1 type:Rate", "--", ruled)[1]
assert "one.rules is left out: one that is given by itself has its name" in told, told
assert [r["expression"] for r in dump("nearest", "runs")[0]["rules"]] == ["size=1 type:Rate", "size=3"]
print("rules of programs hold, stop and are told")
