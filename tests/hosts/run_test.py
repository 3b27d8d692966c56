#!/usr/bin/env python3
"""`nanlens run` and its traps on programs as they are: `run_test.py NANLENS PROGRAMS CC CXX`. Places are those of comments in the
programs' sources, which say what must be on record there."""
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

nanlens, programs, cc, cxx = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
work = pathlib.Path(tempfile.mkdtemp())
built = work / "bin"
built.mkdir()
os.environ.pop("LD_PRELOAD", None)
KINDS = ("0/0", "∞/∞", "x/0", "0·∞", "∞−∞", "root of a negative number", "overflow", "conversion beyond the integers",
         "signalling NaN", "comparison with NaN", "invalid operation")


def check(what, holds):
    if not holds:
        sys.exit(f"FAILED: {what}")


def build(source, *flags, compiler=cc, name=None):
    program = built / (name or pathlib.Path(source).stem)
    subprocess.run([compiler, "-g", *flags, str(programs / source), "-o", str(program), "-lm"], check=True)
    return program


def plain(*args, **more):
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def run(logdir, *program, flags=("--traps",), **more):
    return plain(nanlens, "run", "--logdir", logdir, *flags, "--", *program, **more)


def rows(logdir, kind, *more):
    r = plain(nanlens, "dump", logdir, "--what", kind, *more)
    check(r.stderr, r.returncode == 0)
    return [json.loads(line) for line in r.stdout.splitlines()]


def run_ids(logdir):
    return [r["run_id"] for r in rows(logdir, "runs")]


def trapped(logdir, run_id=None):
    """(op, kind, line, hits, execution) of all that is on record; the line is that of the innermost frame in a test program."""
    more = ["--run", run_id] if run_id else []
    frames = {f["id"]: f for f in rows(logdir, "stack_frames", *more)}
    result = []
    for e in rows(logdir, "executions", *more):
        lines = [frames[i]["line"] for i in e["stack_frame_ids"] if "/programs/" in frames[i]["file_path"]]
        result.append((e["op_type"], e["op_name"], lines[-1] if lines else 0, e["hits"], e))
    return result


def marks(source, *without):
    """{(op, kind, line)} as the comments of a source have them; the op may be empty."""
    found = set()
    for number, text in enumerate((programs / source).read_text(encoding="utf-8").splitlines(), 1):
        comment = re.search(r"(?:/\*|//|!|#) *(.*?) *(?:\*/)?$", text)
        if not comment:
            continue
        words = comment[1]
        kind = next((k for k in KINDS if f" {words}".find(f" {k}") >= 0), None)
        if kind and kind not in without:
            op, _, rest = words.partition(kind)
            found.add((op.strip(), kind + rest, number))
    return found


def check_marks(source, logdir, *without):
    found = [(op, kind, line) for op, kind, line, _, _ in trapped(logdir)]
    for op, kind, line in marks(source, *without):
        check(f"{source}:{line}: {op} {kind} in {found}",
              any(o.removeprefix("v").startswith(op.removeprefix("v")) and k == kind and n == line for o, k, n in found))
    places = {line for _, _, line in marks(source)}
    for op, kind, line in found:
        check(f"{source}:{line}: {op} {kind} is expected nowhere", line in places)


def same_behaviour(ours, theirs):
    check(f"the same output: {ours} {theirs}", ours.stdout == theirs.stdout)
    check(f"the same exit code: {ours.returncode} {theirs.returncode} {ours.stderr}", ours.returncode == theirs.returncode)


def test_scalar():
    for flags in (["-O0", "-fno-math-errno"], ["-O2", "-fno-math-errno"]):
        program = build("scalar.c", *flags)
        logdir = work / ("scalar" + flags[0])
        ours = run(logdir, program)
        same_behaviour(ours, plain(program))
        check("exit code 7", ours.returncode == 7)
        check_marks("scalar.c", logdir)
        check("the first is told: " + ours.stderr, re.search(r"nanlens: 0/0 at scalar\.c:\d+ in main, 1 time; first at \+0\.\d s\.", ours.stderr))
        divided = next(e for op, kind, _, _, e in trapped(logdir) if (op, kind) == ("divsd", "0/0"))
        check("operands are on record", [i["counts"] for i in divided["input_evidence"]] == [[0, 0, 0, 0, 1, 0]] * 2)
        check("so is the result", divided["output_evidence"][0]["counts"] == [0, 0, 1, 0, 0, 0])


def test_example():
    """What examples/solver/README.md says."""
    example = programs.resolve().parents[2] / "examples" / "solver"
    subprocess.run([cc, "-g", "-O2", str(example / "solver.c"), "-o", str(built / "solver")], check=True)
    ours = run(work / "record", built / "solver")
    text = (example / "README.md").read_text(encoding="utf-8")
    printed, told = re.search(r"prints `([^`]*)`, and `([^`]*)`", text).groups()
    check(f"prints {printed}: {ours.stdout}", ours.stdout == printed + "\n")
    place = told.split(", ")[0]  # how wide the loop is, is the compiler's choice
    check(f"and {place}: {ours.stderr}", place == "0/0 at solver.c:9 in flux" and place in ours.stderr)


def test_selection():
    program = build("scalar.c", "-O0")
    run(work / "some", program, flags=["--traps=divbyzero,overflow"])
    kinds = {kind.split(" in ")[0] for _, kind, _, _, _ in trapped(work / "some")}
    check(f"only what was asked for: {kinds}", kinds == {"x/0", "overflow"})


def processor_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return set(re.search(r"^flags\s*: (.*)$", f.read(), re.M)[1].split())


def test_functions():
    """A function of the C library has the name that the program calls it by, however it does that."""
    for i, flags in enumerate((["-O0"], ["-O1", "-fno-plt"], ["-O2", "-no-pie"], ["-O1", "-fcf-protection", "-Wl,-z,ibtplt"])):
        program = build("functions.c", "-fno-builtin", *flags)
        logdir = work / f"functions{i}"
        run(logdir, program)
        check_marks("functions.c", logdir)


def test_library():
    """Of a library without lines the function is told, at the line that called it."""
    library = build("ratio.c", "-O1", "-shared", "-fPIC", "-g0", name="libratio.so")
    program = build("caller.c", "-O1", "-Wl,--no-as-needed", library)
    logdir = work / "library"
    ours = run(logdir, program)
    check_marks("caller.c", logdir)
    check("told: " + ours.stderr, re.search(r"nanlens: 0/0 in ratio at caller\.c:\d+ in main, 1 time", ours.stderr))


def test_together():
    """Without lines the places of a function are one, and without functions all are: none is left out of their number."""
    for flags, told in ((["-g"], {10, 5}), (["-g0"], {20, 5}), (["-s"], {25})):
        program = build("together.c", "-O1", *flags)
        logdir = work / ("together" + flags[0])
        run(logdir, program)
        report = json.loads(plain(nanlens, "why", "--json", logdir).stdout)
        said = [cause["sentence"] for cause in report["causes"]]
        times = [int(re.search(r"(\d+) times; first", sentence)[1]) for sentence in said]
        check(f"{flags}: {said}", set(times) == told and sum(times) == 25)
        check(f"functions: {said}", flags == ["-s"] or (any("in twice, " in text for text in said) and any("in once, " in text for text in said)))


def test_counted():
    """All traps of an instruction are counted, also where those after the first follow from that."""
    logdir = work / "counted"
    told = run(logdir, build("counted.c", "-O1", "-g")).stderr
    check(f"told: {told}", "comparison with NaN at counted.c:13 in main, 100 times; first at +" in told)


def test_narrow():
    flags = processor_flags()
    if "f16c" not in flags:
        print("no F16C here: halves are not tested")
        return
    newer = "avx512dq" in flags
    logdir = work / "narrow"
    program = build("narrow.c", "-O1", "-march=native")
    ours = run(logdir, program)
    same_behaviour(ours, plain(program))
    found = trapped(logdir)
    for op, kind, line in marks("narrow.c"):
        check(f"narrow.c:{line}: {op} {kind} in {found}",
              any((o, k) == (op, kind) for o, k, _, _, _ in found) == (newer or op == "vcvtps2ph"))
    made = next(e for op, _, _, _, e in found if op == "vcvtps2ph")["output_evidence"][0]
    float16 = 19
    check(f"a half, and which: {made}", (made["dtype"], made["shape"], made["positions"], made["values"]) == (float16, [4], [2], ["inf"]))


def test_unknown():
    """What an instruction makes that is not known is not known, either."""
    logdir = work / "unknown"
    program = build("mmx.c", "-O1")
    ours = run(logdir, program)
    same_behaviour(ours, plain(program))
    check_marks("mmx.c", logdir)
    check("said when it ends: " + ours.stderr, re.search(r'nanlens: instruction "invalid operation" at mmx\.c:\d+: what came of it is not known', ours.stderr))
    told = plain(nanlens, "why", logdir).stdout
    check("said by why: " + told, "result is not known:\n" in told and "Made and removed" not in told)


def test_lanes():
    flags = processor_flags()
    if not {"avx2", "fma"} <= flags:
        print("no AVX2 here: packed instructions are not tested")
        return
    program = build("lanes.c", "-O3", "-march=native")
    logdir = work / "lanes"
    ours = run(logdir, program)
    same_behaviour(ours, plain(program))
    found = trapped(logdir)
    by_op = {}
    for op, kind, line, hits, e in found:
        by_op.setdefault((re.sub(r"\d{3}", "", op), kind), (line, e))
    for op, kind, line in marks("lanes.c"):
        if "avx512f" not in flags and kind == "x/0":
            continue
        seen = next((v for (o, k), v in by_op.items() if o.startswith(op) and k == kind), None)
        check(f"lanes.c:{line}: {op} {kind} in {list(by_op)}", seen is not None and seen[0] == line)
    line, e = next(v for (o, k), v in by_op.items() if o == "vdivpd" and k == "0/0")
    check("1 of 4 lanes", e["output_evidence"][0]["counts"][2] == 1 and e["output_evidence"][0]["shape"] == [4])
    check("which one", e["output_evidence"][0]["positions"][0] == 1)
    check("the sentence says so: " + ours.stderr, re.search(r"0/0 at lanes\.c:%d in \w+, 1 time; first at \+[0-9.]+ s, in 1 of 4 lanes" % line, ours.stderr))
    loop = [(op, kind) for op, kind, n, _, _ in found if op.startswith("vdivps")]
    check(f"the loop is wide: {by_op.keys()}", loop)


def test_threads():
    program = build("threads.cpp", "-O1", "-fopenmp", "-pthread", compiler=cxx)
    logdir = work / "threads"
    ours = run(logdir, program)
    same_behaviour(ours, plain(program))
    found = trapped(logdir)
    most = {}
    threads = {}
    for op, kind, line, hits, e in found:
        most[(op, kind, line)] = max(most.get((op, kind, line), 0), hits)
        threads.setdefault((op, kind, line), set()).add(e["thread_id"])
    for op, kind, line in marks("threads.cpp"):
        times = {"x/0": 1000, "0·∞": 10, "0/0": 60}[kind]
        seen = max((v for (o, k, n), v in most.items() if o.removeprefix("v") == op and k == kind and n == line), default=0)
        check(f"threads.cpp:{line}: {op} {kind}, {times} times: {most}", seen == times)
    check("each thread by its number", all(os.getpid() not in t for t in threads.values()))


def test_fortran():
    gfortran = shutil.which("gfortran")
    if gfortran is None:
        check("gfortran is there: CI installs it", not os.environ.get("CI"))
        print("no gfortran here: Fortran is not tested")
        return
    for flags in (["-O0"], ["-O3", "-march=native"]):
        program = build("flux.f90", *flags, "-J", str(work), compiler=gfortran)
        logdir = work / ("fortran" + flags[0])
        ours = run(logdir, program)
        same_behaviour(ours, plain(program))
        (op, kind, line), = marks("flux.f90")
        found = trapped(logdir)
        check(f"flux.f90:{line}: {found}", all(n == line and k == kind and o.lstrip("v").startswith(op) for o, k, n, _, _ in found))
        check("no word about libgfortran's handler: " + ours.stderr, "SIGFPE" not in ours.stderr)
        times = max(h for _, _, _, h, _ in found)
        check(f"{times} times", times == 400 or flags != ["-O0"])
        check("why: " + ours.stderr, re.search(r"0/0 at flux\.f90:%d in \S*flux, %d times?; first at" % (line, times), ours.stderr))


def test_python():
    """A program in Python: its lines, of every frame, of every thread and child; an extension's own line inside of them."""
    if not has_numpy():
        return
    extension = build("ratio.c", "-O1", "-shared", "-fPIC", name="ratio.so")
    args = [python, programs / "lines.py", extension]
    logdir = work / "python"
    ours = run(logdir, *args)
    same_behaviour(ours, plain(*args))
    expected = {(kind, line) for _, kind, line in marks("lines.py")}
    (called,) = {line for _, kind, line in marks("lines.py") if "extension" in line_of("lines.py", line)}
    found = {}
    for run_id in run_ids(logdir):
        frames = {f["id"]: f for f in rows(logdir, "stack_frames", "--run", run_id)}
        for e in rows(logdir, "executions", "--run", run_id):
            stack = [frames[i] for i in e["stack_frame_ids"]]
            own = [f for f in stack if f["file_path"].endswith("/lines.py")]
            check(f"the outermost frame is the module's: {stack}", own[0]["function"] == "<module>" or "threading.py" in stack[0]["file_path"])
            found.setdefault((e["op_name"], own[-1]["line"]), (stack[-1], e["hits"]))
    check(f"{sorted(found)} is {sorted(expected)}", set(found) == expected)
    inner = found["0/0", called][0]
    check(f"the extension's own line: {inner}", inner["file_path"].endswith("/ratio.c") and inner["line"] == 2 and inner["function"] == "ratio")
    inner = next(frame for (kind, _), (frame, _) in found.items() if kind == "root of a negative number")
    check(f"a method: {inner}", inner["function"] == "Model.root")
    first = sorted(line for _, kind, line in marks("lines.py") if kind == "overflow")[0]
    check("told: " + ours.stderr, f"overflow at lines.py:{first} in in_python" in ours.stderr)


python = "/usr/bin/python3"  # the system's, to which the packages belong


def has_numpy():
    ready = plain(python, "-c", "import sys, numpy; sys.exit(sys.version_info < (3, 11))").returncode == 0
    check("NumPy and Python 3.11 are there: CI installs them", ready or not os.environ.get("CI"))
    if not ready:
        print("no NumPy, or Python before 3.11: Python's lines are not tested")
    return ready


def line_of(source, number):
    return (programs / source).read_text(encoding="utf-8").splitlines()[number - 1]


def test_numpy_example():
    """What examples/numpy/README.md says."""
    if not has_numpy():
        return
    example = programs.resolve().parents[2] / "examples" / "numpy"
    ours = run(work / "numpy", python, example / "normalise.py")
    printed, told = re.search(r"prints `([^`]*)`, and `([^`]*)`", (example / "README.md").read_text(encoding="utf-8")).groups()
    check(f"prints {printed}: {ours.stdout}", ours.stdout == printed + "\n")
    check(f"and {told}: {ours.stderr}", f"nanlens: {told}, " in ours.stderr)


TRAPPED = "The program trapped divsd x/0 itself, before there was a result: environment.c:%d"


def check_told_of_trap(logdir, place):
    """There is no NaN, and every command says what there was."""
    sentence = TRAPPED % place + "."
    checked = plain(nanlens, "check", logdir)
    words = f"1 place at which the program trapped a floating-point exception itself; why: {sentence} (divsd, execution 0)"
    check(f"a check fails: {checked.stdout}", checked.returncode == 1 and words in checked.stdout)
    report = json.loads(plain(nanlens, "check", "--format", "json", logdir).stdout)
    (found,) = report["findings"]
    check(f"as a finding: {found}", (found["rule"], found["level"], found["sentence"], found["place"]["line"], found["execution"], found["occurrences"])
          == ("rc.trapped", "error", sentence, place, 0, 1) and report["coverage"]["places_trapped_by_program"] == 1)
    (result,) = json.loads(plain(nanlens, "check", "--format", "sarif", logdir).stdout)["runs"][0]["results"]
    check(f"in SARIF: {result}", result["ruleId"] == "rc.trapped" and
          result["locations"][0]["physicalLocation"]["region"]["startLine"] == place)
    for shown in (plain(nanlens, "report", logdir).stdout, plain(nanlens, "report", "--html", logdir).stdout):
        check(f"the report: {shown}", sentence in shown and "No NaN" not in shown)
    (told,) = json.loads(plain(nanlens, "why", "--json", logdir).stdout)["trapped_by_program"]
    check(f"with the operands: {told}", (told["execution"], told["op_type"], told["what"], told["line"], told["hits"], told["operands"], told["muted_by"])
          == (0, "divsd", "x/0", place, 1, [[1], [0]], None))
    marks_file = logdir / "nanlens.mutes"
    marks_file.write_text(f"rule:rc.trapped file:environment.c:{place} -- tried on purpose\n", encoding="utf-8")
    checked = plain(nanlens, "check", logdir)
    check(f"muted, but it did not end in order: {checked.stdout}", checked.returncode == 3 and "[muted by" in checked.stdout)
    why = plain(nanlens, "why", logdir).stdout
    check(f"the mark has matched: {why}", "[muted by" in why and "tried on purpose" in why and "matches nothing" not in why)
    marks_file.unlink()


def test_environment():
    program = build("environment.c", "-O1")
    (place,) = {line for _, kind, line in marks("environment.c") if kind == "x/0"}

    def divided(logdir):
        return [hits for _, kind, line, hits, _ in trapped(logdir) if (kind, line) == ("x/0", place)]

    for what in ("cleared", "default", "held", "enabled", "handled", "_exit"):
        logdir = work / what
        ours = run(logdir, program, what)
        same_behaviour(ours, plain(program, what))
        hits = [] if what == "held" else divided(logdir)
        expected = {"cleared": [1, 2, 3], "held": []}.get(what, [1])
        check(f"{what}: {hits} {ours.stderr}", hits == expected)
        word = {"enabled": "unmasks floating-point exceptions itself", "handled": "handles SIGFPE itself"}.get(what)
        check(f"a word about it: {what} {ours.stderr}", word is None or ours.stderr.count(word) == 1)
    ours = run(work / "held", program, "held")
    check("nothing trapped, and it says so: " + ours.stderr, "no floating-point exception was trapped (all)" in ours.stderr)
    ours = run(work / "long double", program, "long double")
    same_behaviour(ours, plain(program, "long double"))
    check("what is not trapped is told: " + ours.stderr, ours.stderr.count("long double arithmetic, which is not trapped") == 1)
    check("only then", "long double" not in run(work / "again", program, "cleared").stderr)
    for what, number in (("fatal", signal.SIGFPE), ("abort", signal.SIGABRT)):
        ours = run(work / what, program, what)
        check(f"{what} is still fatal: {ours.returncode}", ours.returncode == 128 + number)
        check("and it is said: " + ours.stderr, f"was ended by signal {int(number)}" in ours.stderr)
        words = "at least 1 time" if what == "abort" else TRAPPED % place
        check("what came before is on record: " + ours.stderr, divided(work / what) == [1] and words in ours.stderr)
    check_told_of_trap(work / "fatal", place)
    run(work / "unlooked", program, "fatal", flags=["--traps", "--mode", "NO_TENSOR"])
    why = plain(nanlens, "why", work / "unlooked").stdout
    check(f"also where no health is on record: {why}", "Trapped by the program itself" in why)
    why = plain(nanlens, "why", work / "fatal").stdout
    check(f"with what was to be divided: {why}", re.search(
        r"Trapped by the program itself.*divsd:0 .*: x/0, environment\.c:%d\n.* = 1, no .*\n.* = 0, no " % place, why, re.S))


def test_many_places():
    """More places than can be under way while the first of all is recorded: none is lost."""
    number = 700
    source = work / "programs" / "many.c"
    source.parent.mkdir()
    lines = ["volatile double zero, made;", "int main(void) {", *["made = zero / zero;"] * number, "return 0; }"]
    source.write_text("\n".join(lines), encoding="utf-8")
    ours = run(work / "many", build(source, "-O0"))
    check("many: " + ours.stderr, ours.returncode == 0)
    found = [(line, hits, e["hits_at_least"]) for _, _, line, hits, e in trapped(work / "many")]
    check(f"{len(found)} places of {number}", sorted(found) == [(line, 1, False) for line in range(3, 3 + number)])


def test_fork():
    program = build("environment.c", "-O1")
    logdir = work / "fork"
    same_behaviour(run(logdir, program, "fork"), plain(program, "fork"))
    ids = run_ids(logdir)
    check(f"two runs: {ids}", len(ids) == 2)
    kinds = sorted(kind for run_id in ids for _, kind, _, _, _ in trapped(logdir, run_id))
    check(f"each with its own: {kinds}", kinds == ["0/0", "x/0"])


def test_deaths():
    """What comes of a NaN may be the end at once: it is on record nevertheless."""
    program = build("deaths.c", "-O1")
    ways = ("index", "kill", "term", "trap", "abort", "quick_exit", "exit_group", "exec", "")
    for way in ways:
        logdir = work / f"death by {way}"
        ours = run(logdir, program, way)
        same_end = plain(program, way).returncode
        check(f"{way}: the same end: {ours}", ours.returncode == (same_end if same_end >= 0 else 128 - same_end))
        check(f"{way}: the NaN is told: {ours.stderr}", re.search(r"nanlens: 0/0 at deaths\.c:13 in main", ours.stderr))
        check(f"{way}: nothing is missing: {ours.stderr}", "missing" not in ours.stderr and "no floating" not in ours.stderr)
    index = plain(nanlens, "why", work / "death by index").stdout
    check(f"and so is what came of it: {index}", "cvttsd2si" in index)


def test_constructor():
    """A thread that waits for its trap's record holds what recording needs: it goes on nevertheless, and all is told."""
    library = build("constructor.c", "-DLIBRARY", "-O1", "-shared", "-fPIC", name="constructor.so")
    program = build("constructor.c", "-O1", name="constructor")
    ours = run(work / "constructor", program, library)
    same_behaviour(ours, plain(program, library))
    check_marks("constructor.c", work / "constructor")
    check(f"all were counted: {ours.stderr}", "x/0 at constructor.c:6 in construct, 3 times" in ours.stderr)


def test_own_malloc():
    """No thread of ours may run beside a malloc that is made for one."""
    program = build("own_malloc.c", "-O1", "-fno-builtin", "-rdynamic")
    ours = run(work / "own malloc", program, flags=["--traps", "--check"])
    same_behaviour(ours, plain(program))
    check(f"it is said: {ours.stderr}", "the program brings its own malloc and starts no threads" in ours.stderr)
    threaded = build("own_malloc.c", "-O1", "-fno-builtin", "-rdynamic", "-Wl,-u,pthread_create", name="threaded_malloc")
    ours = plain(nanlens, "run", "--traps", "--logdir", work / "threaded malloc", "--", threaded)
    check(f"one that knows of threads is watched: {ours.stderr}", "brings its own malloc" not in ours.stderr)


def test_often():
    program = build("often.c", "-O1", "-pthread")
    (often, once) = sorted(line for _, _, line in marks("often.c"))
    few = run(work / "few", program, "few")
    check("exact up to 10,000: " + few.stderr, "x/0 at often.c:%d in often, 10,000 times; first" % often in few.stderr and "Not every trap" not in few.stderr)
    for what in ("thread", "fork", "later"):
        logdir = work / ("often-" + what)
        ours = run(logdir, program, what)
        same_behaviour(ours, plain(program, what))
        ids = run_ids(logdir)
        found = [trap for run_id in ids for trap in trapped(logdir, run_id)]
        hits = max(h for _, _, line, h, _ in found if line == often)
        check(f"{what}: counted in part: {hits}", 10_000 < hits < 3_000_000)
        check(f"and so it is told: {ours.stderr}", "at least %s times" % f"{hits:,}" in ours.stderr and "Not every trap was counted" in ours.stderr)
        check(f"{what}: what comes later is trapped: {ours.stderr}", any(line == once and kind == "x/0" for _, kind, line, _, _ in found))


def test_run():
    program = build("environment.c", "-O1")
    ours = run(work / "clean", program, "clean", flags=["--traps", "--check"])
    check("clean: " + ours.stderr, ours.returncode == 0 and not (work / "clean").exists())
    ours = run(work / "dirty", program, "cleared", flags=["--traps", "--check"])
    check("--check", ours.returncode == 1)
    (work / "muted").mkdir()
    (work / "muted" / "nanlens.mutes").write_text("rule:rc.* -- meant\ntype:Nothing -- is not there\n")
    ours = run(work / "muted", program, "cleared", flags=["--traps", "--check"])
    check("--check of what is muted: " + ours.stderr, ours.returncode == 0 and "muted, by " in ours.stderr and
          "nanlens.mutes:1 (meant)" in ours.stderr and "nanlens.mutes:2: matches nothing here" in ours.stderr)
    ours = plain(nanlens, "run", "--traps", "--", program, "cleared", cwd=work)
    (made,) = work.glob("nanlens-*")
    datetime.datetime.strptime(made.name, "nanlens-%Y%m%d-%H%M%S")
    ours = plain(nanlens, "run", "--", "sh", "-c", "cat; kill -TERM $$", input="through\n", cwd=work)
    check(f"stdin, stdout, signal: {ours}", (ours.stdout, ours.returncode) == ("through\n", 143))
    ours = run(work / "script", "sh", "-c", f"{program} cleared; exit 9")
    check(f"a child of the program: {ours}", ours.returncode == 9 and "x/0 at environment.c" in ours.stderr)
    stopped = subprocess.Popen([nanlens, "run", "--logdir", work / "stop", "--", "sh", "-c", "trap 'exit 5' TERM; echo up; while :; do sleep 0.1; done"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    check("it is up", stopped.stdout.readline() == b"up\n")
    stopped.send_signal(signal.SIGTERM)
    check("a signal goes on to the program", stopped.wait() == 5)


def loading_program(*flags):
    """A host library, an adapter of it, a command that names the adapter, and a program that opens the library."""
    libraries = built / "libraries"
    libraries.mkdir(exist_ok=True)
    shared = ["-shared", "-fPIC"]
    build("loading.c", *shared, "-DHOST", "-Wl,-soname,libtiny.so.1", name="libraries/libtiny.so.1")
    build("loading.c", *shared, "-DOPENER", "-Wl,-rpath,$ORIGIN", name="libraries/libopener.so")
    build("loading.c", *shared, "-DADAPTER", name="adapter.so")
    command = built / "command"
    command.write_text(f"#!/bin/sh\necho \"$1 $2 $3 [$LD_PRELOAD]\" >>{work}/asked\necho {built}/adapter.so\n")
    command.chmod(0o755)
    os.environ["NANLENS_COMMAND"] = str(command)
    os.environ["NANLENS_HOST_LIBRARY"] = "tiny=libtiny.so"
    return build("loading.c", "-rdynamic", "-Wl,-rpath,$ORIGIN/libraries", "-Wl,--enable-new-dtags", *flags, name="loading")


def test_loading():
    program = loading_program()
    tiny = built / "libraries" / "libtiny.so.1"
    said = "adapter in main\n"
    for what in ("search", "path", "origin", "constructor", "missing"):
        asked = work / "asked"
        asked.write_text("")
        ours = run(work / "loading", program, what, flags=[])
        same_behaviour(ours, plain(program, what))
        check(f"{what}: {ours.stderr}", ours.stderr.count(said) == (what != "missing"))
        found = asked.read_text()
        check(f"{what}: asked once, and not watched itself: {found}", found == ("" if what == "missing" else f"adapter tiny {tiny} []\n"))
    linked = loading_program("-DLINKED", "-Wl,--no-as-needed", str(tiny))
    ours = run(work / "linked", linked, "linked", flags=[])
    check(f"linked: {ours}", said in ours.stderr and ours.stdout == "linked 42\n")
    ours = run(work / "none", linked, "linked", flags=["--hosts", "none"])
    check(f"--hosts: {ours}", said not in ours.stderr and "no library that nanlens knows" in ours.stderr)
    (built / "command").write_text("#!/bin/sh\necho 'no compiler' >&2\nexit 2\n")
    ours = run(work / "fails", linked, "linked", flags=[])
    check(f"an adapter that can't be had: {ours}", "no compiler" in ours.stderr and ours.stdout == "linked 42\n" and ours.returncode == 0)
    del os.environ["NANLENS_COMMAND"], os.environ["NANLENS_HOST_LIBRARY"]


def test_other_cpu():
    compiler, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        check("a compiler for another CPU is there: CI installs it", not os.environ.get("CI"))
        print("no aarch64-linux-gnu-g++ and qemu-aarch64 here: other CPUs are not tested")
        return
    root = programs.resolve().parents[2]
    source = work / "other.cpp"
    source.write_text('#include <cstdio>\n#include "trap_list.hpp"\nint main() { std::puts(nanlens::cli::why_no_traps("all").c_str()); }\n')
    subprocess.run([compiler, "-std=c++20", "-static", f"-I{root}/viewer/cli", str(source), str(root / "viewer/cli/trap_list.cpp"),
                    "-o", str(work / "other")], check=True)
    told = plain(emulator, work / "other").stdout
    check(f"one message: {told}", "--traps needs Linux on x86-64" in told and told.count("\n") == 1)
    source.write_text("#include <nanlens/hosts/traps.hpp>\n")
    refused = plain(compiler, "-std=c++20", "-fsyntax-only", f"-I{root}/include", source)
    check(f"the header, too: {refused.stderr}", refused.stderr.count("error:") == 1 and "is for x86-64 on Linux" in refused.stderr)


TRAINING = """
import sys, torch
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for line in sys.stdin:
    optimizer.zero_grad()
    net(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    print("done", flush=True)
"""


def test_torch_steps():
    """Optimizers end steps; `nanlens off` and `on` reach PyTorch's callbacks."""
    python = "/usr/bin/python3"
    if plain(python, "-c", "import torch").returncode != 0:
        check("PyTorch is there: CI installs it", not os.environ.get("NANLENS_REQUIRE_HOSTS"))
        print("no python3-torch here: its steps are not tested")
        return

    def train(name, parts, *flags):
        logdir = work / name
        running = subprocess.Popen([nanlens, "run", "--logdir", logdir, *flags, "--", python, "-c", TRAINING], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for part in parts:
            if isinstance(part, str):
                switched = plain(nanlens, part, logdir)
                check(f"{part}: {switched}", switched.returncode == 0)
                continue
            for _ in range(part):
                running.stdin.write("\n")
                running.stdin.flush()
                check("a step", running.stdout.readline() == "done\n")
        _, told = running.communicate()
        (of,) = rows(logdir, "runs")
        return [e["op_type"] for e in rows(logdir, "executions")].count("aten::addmm"), (of["left_out"] or {}).get("steps"), told

    check("one of two", train("torch-every", [6], "--every", "2")[:2] == (3, 3))
    check("a range", train("torch-steps", [6], "--steps", "2..2")[:2] == (1, 5))
    count, steps, told = train("torch-switch", [1, "off", 3, "on", 1])
    check(f"the switch: {count} {steps} {told}", (count, steps) == (2, 3) and "3 steps (in " in told)
    count, steps, told = train("torch-one", [0], "--every", "5")
    check(f"no step: {count} {steps} {told}", steps is None and "no second step began" in told)


SPAWNED = """
import datetime, os, sys, torch
def run(rank, place):
    store = torch.distributed.FileStore(place, 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=60))
    x = torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))
    torch.distributed.all_reduce(x)
    x * 2
if __name__ == "__main__":
    torch.multiprocessing.spawn(run, (sys.argv[1],), nprocs=2)
"""


def test_torch_spawned():
    """Ranks that a program starts itself, without a launcher: one run."""
    if plain(python, "-c", "import torch").returncode != 0:
        return  # test_torch_steps says so
    program, logdir = work / "spawned.py", work / "spawned"
    program.write_text(SPAWNED)
    ran = plain(nanlens, "run", "--logdir", logdir, "--check", "--", python, program, work / "spawned.store")
    check(f"{ran}", ran.returncode == 1 and "aten::log at spawned.py:6 in process " in ran.stderr)
    check(f"{ran.stderr}", "spread it to 1 other rank" in ran.stderr and "Can't tell" not in ran.stderr)
    check("one run", len(rows(logdir, "runs")) == 1)


def test_adapter_faults():
    """What can be wrong with a host: each one line, and the program runs on."""
    program = loading_program("-DLINKED", "-Wl,--no-as-needed", str(built / "libraries" / "libtiny.so.1"))
    os.environ["NANLENS_HOST_LIBRARY"] = "torch=libtiny.so"
    del os.environ["NANLENS_COMMAND"]
    cases = {"no headers": ({}, "PyTorch's headers (ATen/record_function.h)"), "unknown version": ({}, "the adapter for PyTorch does not compile: another PyTorch than any (all of it"), "no compiler": ({"PATH": str(work / "nothing")}, "there is no g++"),
             "no adapter": ({"NANLENS_HOST_LIBRARY": "tiny=libtiny.so"}, "there is no adapter for 'tiny'")}
    torch = built / "torch"
    for name, (variables, message) in cases.items():
        shutil.rmtree(torch, ignore_errors=True)
        (torch / "lib").mkdir(parents=True)
        shutil.copy(built / "libraries" / "libtiny.so.1", torch / "lib")
        shutil.copy(built / "libraries" / "libtiny.so.1", torch / "lib" / "libc10.so")
        if name != "no headers":
            (torch / "include" / "ATen").mkdir(parents=True)
            (torch / "include" / "ATen" / "record_function.h").write_text('#error another PyTorch than any\n#include <no_file_so_the_compiler_stops_here>\n')
        environment = {**os.environ, "LD_LIBRARY_PATH": str(torch / "lib"), "XDG_CACHE_HOME": str(work / "cache"), **variables}
        if name == "no headers" and os.path.exists("/usr/include/ATen/record_function.h"):
            continue  # those of the system are taken
        for more in ([], ["--best-effort"]):
            ours = run(work / "adapter", program, "linked", flags=more, env=environment)
            check(f"{name}: {ours}", (ours.returncode, ours.stdout) == (0, "linked 42\n"))
            check(f"{name}: {ours.stderr}", ours.stderr.count(message) == 1)
    del os.environ["NANLENS_HOST_LIBRARY"]


def test_faults():
    program = build("environment.c", "-O1")
    static = build("environment.c", "-static", name="static")
    script = work / "script.sh"
    script.write_text("#!/bin/sh\necho script\n")
    own_rights = work / "own_rights"
    shutil.copy(program, own_rights)
    if os.getuid() == 0:
        shutil.chown(own_rights, "nobody")
    own_rights.chmod(0o4755)
    file = work / "file"
    file.write_text("")
    cases = [([work / "missing"], "there is no program", False), (["no-such-program"], "in PATH", False),
             ([script], "can't be executed", False), ([static, "clean"], "linked statically", True)]
    if os.getuid() == 0:
        cases.append(([own_rights, "clean"], "rights of its own", True))
    for args, message, runs in cases:
        for more in ([], ["--best-effort"]):
            ours = run(work / "never", *args, flags=["--traps", *more])
            check(f"{args}: {ours.stderr}", message in ours.stderr and ours.stderr.count("\n") == 1)
            if more and runs:
                check(f"{args} runs: {ours}", (ours.returncode, ours.stdout) == (0, "clean\n"))
            else:
                check(f"{args} does not run: {ours}", (ours.returncode, ours.stdout) == (2, ""))
    for logdir, flags, message in ((file / "in", [], "can't write to"), (work / "m", ["--mode", "LOUD"], "unknown mode 'LOUD'"),
                                   (work / "t", ["--traps=inexact"], "unknown trap 'inexact'")):
        for more in ([], ["--best-effort"]):
            ours = run(logdir, program, "clean", flags=["--traps", *flags, *more])
            check(f"{flags}: {ours.stderr}", message in ours.stderr)
            check(f"{flags}: {ours}", ours.returncode == (0 if more else 2) and ours.stdout == ("clean\n" if more else ""))
    for flags, message in ((["--every", "0"], "'0' is no whole number from 1 on"), (["--every", "few"], "--every"), (["--steps", "5"], "'5' is no range of steps"),
                           (["--steps", ".."], "'..' is no range"), (["--steps", "7..3"], "'7..3' holds no step"),
                           (["--every", "2", "--steps", "1..2"], "excludes"), (["--ring", "-1"], "'-1' is no whole number from 0"), (["--loud"], "--loud"), (["--hosts", "tensorflow"], "unknown host 'tensorflow'")):
        ours = plain(nanlens, "run", "--logdir", work / "never", *flags, "--", program, "clean")
        check(f"{flags}: {ours}", ours.returncode == 2 and message in ours.stderr and ours.stdout == "" and ours.stderr.count("\n") <= 2)
    ours = plain(nanlens, "run", "--help")
    check(f"help: {ours}", ours.returncode == 0 and all(f"--{option}" in ours.stdout for option in
          ("logdir", "mode", "ring", "every", "steps", "traps", "hosts", "check", "best-effort")) and "nanlens::step()" in ours.stdout)
    check("no program", "run needs a program behind '--'" in plain(nanlens, "run", "--traps").stderr)


for name, test in list(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 6 or name in sys.argv[5:]):
        test()
        print(name)
shutil.rmtree(work)
