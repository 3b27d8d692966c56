"""Programs of ggml with a known culprit, recorded by the header and by `nanlens run`: `run.py NANLENS PROGRAMS PLAIN EXAMPLE CC WORK_DIR`.

PLAIN are the same programs compiled without nanlens, EXAMPLE is that of examples/ggml.
"""
import os
import shutil
import subprocess
import sys

import score

here = os.path.dirname(os.path.abspath(__file__))
failures = []


def check(what, right):
    print(f"{'ok    ' if right else 'WRONG '}{what}")
    if not right:
        failures.append(what)


def run(words, **environment):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment))


def check_programs(nanlens, programs, plain, out):
    for name in score.EXPECTED:
        alone = run([plain, name])
        recorded = run([programs, name], NANLENS_LOGDIR=os.path.join(out, name))
        wrong = score.judge(name, nanlens, os.path.join(out, name))
        check(f"{name}: {wrong or score.EXPECTED[name][1]}", not wrong)
        check(f"{name}: runs as ever: {recorded}", recorded.stdout == alone.stdout and recorded.stderr == "" and recorded.returncode == 0)
        logdir = os.path.join(out, "run_" + name)
        watched = run([nanlens, "run", "--logdir", logdir, "--", plain, name])
        wrong = score.judge(name, nanlens, logdir)
        check(f"{name}, by nanlens run: {wrong or 'the same'}", not wrong)
        check(f"{name}, by nanlens run: runs as ever: {watched}", watched.stdout == alone.stdout and watched.returncode == 0)
        op, node = score.EXPECTED[name][:2]
        told = "as a mask does" if name == "clean" else node or op or "no NaN or ∞ on record"
        check(f"{name}, by nanlens run: {watched.stderr}", watched.stderr.startswith("nanlens: ") and told in watched.stderr)
    for name, code in (("clean", 0), ("cache", 1)):
        checked = run([nanlens, "run", "--check", "--logdir", os.path.join(out, "checked_" + name), "--", plain, name])
        check(f"{name}, --check: {checked}", checked.returncode == code)
    check("flags are told", 'RMS_NORM "norm-2", overflow' in run([nanlens, "run", "--logdir", os.path.join(out, "told"), "--", plain, "flags"]).stderr)


def check_steps(nanlens, plain, out):
    """A run of a graph is a step; `--hosts` chooses."""
    logdir = os.path.join(out, "every")
    watched = run([nanlens, "run", "--logdir", logdir, "--every", "2", "--", plain, "several_graphs"])
    ran = score.output(nanlens, "dump", "--what", "executions", logdir).splitlines()
    check(f"every second graph: {len(ran)} {watched.stderr}", len(ran) == 3)
    other = run([nanlens, "run", "--logdir", os.path.join(out, "none"), "--hosts", "torch", "--", plain, "cache"])
    check(f"not asked for: {other.stderr}", "nothing was recorded" in other.stderr)
    asked = run([nanlens, "run", "--logdir", os.path.join(out, "asked"), "--hosts", "ggml", "--", plain, "cache"])
    check(f"asked for: {asked.stderr}", 'SQRT "k-0"' in asked.stderr)


def expect_one_message(nanlens, out, name, words, *program):
    ours = run([nanlens, "run", "--logdir", os.path.join(out, name), "--", *program])
    lines = [line for line in ours.stderr.splitlines() if words in line]
    check(f"{name}: {ours.stdout}{ours.stderr}", len(lines) == 1 and ours.returncode == 0)
    return ours.stdout


def check_messages(nanlens, compiler, out):
    source = os.path.join(here, "other_layout.c")
    for name, flags, words in (("other_layout", [], "its tensors are laid out in a way that is not known here (name)"),
                               ("other_functions", ["-DONLY_ONE"], "it has no ggml_nbytes")):
        folder = os.path.join(out, "lib_" + name)
        os.makedirs(folder)
        library = os.path.join(folder, "libggml-base.so")
        program = os.path.join(folder, "program")
        subprocess.run([compiler, "-shared", "-fPIC", "-w", *flags, source, "-o", library], check=True)
        subprocess.run([compiler, "-DMAIN", source, library, "-o", program], check=True)
        said = expect_one_message(nanlens, out, name, f"ggml is not recorded: {words}", program)
        check(f"{name}: computes as ever: {said}", said == "computed: 7\n")
    program = os.path.join(out, "linked")
    text = '#include <stdio.h>\nint main(void) { return printf("GGML_ASSERT(%s) failed", "no, but ggml is in here") < 0; }\n'
    subprocess.run([compiler, "-x", "c", "-", "-o", program], input=text, text=True, check=True)
    expect_one_message(nanlens, out, "ggml_linked", "ggml is linked into", program)


def check_example(nanlens, example, out):
    """Its README quotes what is printed."""
    ours = run([nanlens, "run", "--logdir", os.path.join(out, "example"), "--", example])
    with open(os.path.join(here, "../../../examples/ggml/README.md"), encoding="utf-8") as file:
        quoted = [part for part in file.read().split("`") if part.startswith("MUL_MAT")]
    check(f"the example: {ours.stderr}", len(quoted) == 1 and f"nanlens: {quoted[0]}" in ours.stderr)


def main():
    nanlens, programs, plain, example, compiler, work = sys.argv[1:7]
    out = os.path.join(work, "logdirs")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    check_programs(nanlens, programs, plain, out)
    check_steps(nanlens, plain, out)
    check_messages(nanlens, compiler, out)
    check_example(nanlens, example, out)
    print(f"{len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
