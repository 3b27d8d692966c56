"""Models with a known culprit, recorded with ONNX Runtime in every way there is, and what is said of them: `run.py NANLENS WORK_DIR CC RECORDER`,
where RECORDER is what a unit with NANLENS_SPLIT is linked with.

ONNX Runtime is the wheel from PyPI, kept in WORK_DIR. Ends with 77 where it can't be had, unless NANLENS_REQUIRE_HOSTS is set.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

here = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the one that Debian's NumPy is for
VERSION = "1.32.0"


def wheel(work):
    """Where the wheel is installed; None if it can't be had."""
    venv = os.path.join(work, "venv-" + VERSION)
    ready = os.path.join(venv, "ready")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(ready):
        shutil.rmtree(venv, ignore_errors=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps",
                   "onnxruntime==" + VERSION]
        if any(subprocess.run(words).returncode for words in ([PYTHON, "-m", "venv", "--system-site-packages", venv], install)):
            return None
        open(ready, "w").close()
    found = subprocess.run([python, "-c", "import onnxruntime.capi as c; print(c.__path__[0])"], stdout=subprocess.PIPE, text=True)
    return (python, found.stdout.strip()) if found.returncode == 0 else None


def run(*words, code=0, cwd=None, **environment):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=dict(os.environ, **environment))
    assert done.returncode == code, (words, done)
    return done


class Test:
    def __init__(self, nanlens, work, python, library, program):
        self.nanlens, self.work, self.python, self.library, self.program = nanlens, work, python, library, program
        self.custom_ops = os.path.join(os.path.dirname(os.path.dirname(nanlens)), "lib", "nanlens", "libnanlens_onnx.so")

    def path(self, name):
        return os.path.join(self.work, "models", name)

    def onnx(self, *words, code=0):
        return run(self.nanlens, "onnx", *words, "--library", self.library, code=code, cwd=self.work)

    def why(self, logdir):
        return json.loads(run(self.nanlens, "why", "--json", logdir).stdout)

    def traces(self, logdir, kind):
        return sum(json.loads(line)["op_type"] == kind for line in
                   run(self.nanlens, "dump", logdir, "--what", "traces").stdout.splitlines())

    def recorded(self, *words):
        """The logdir of a program, and what was said of it."""
        logdir = os.path.join(self.work, "logdir")
        shutil.rmtree(logdir, ignore_errors=True)
        return logdir, run(self.nanlens, "run", "--logdir", logdir, "--", *words)

    def check_program(self):
        """A C program as it is."""
        for how in "file", "array":
            logdir, done = self.recorded(self.program, self.path("vector.onnx"), "x", "y", "3", "4", how, "1", "2", "0.25")
            assert done.stdout == "0.5 1\n", done  # what it gets, and how many outputs the model has, are as without nanlens
            assert 'Log "/blk/Log" got 1 negative value from sub (1 of 3)' in done.stderr, done.stderr
            assert self.traces(logdir, "Log") == 3 * 4
            assert self.why(logdir)["headline"]["op_name"] == "/blk/Log"
        _, done = self.recorded(self.program, self.path("vector.onnx"), "x", "y", "1", "1", "file", "1", "2")
        assert "no NaN or ∞ on record" in done.stderr, done.stderr
        done = run(self.nanlens, "run", "--hosts", "none", "--logdir", os.path.join(self.work, "none"), "--", self.program,
                   self.path("vector.onnx"), "x", "y", "1", "1", "file", "0")
        assert "nothing was recorded" in done.stderr, done.stderr

    def check_example(self):
        """What the example's README says is what is printed."""
        folder = os.path.join(here, "../../../examples/onnx")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            says = re.search(r"once as optimised, `(.*)`", file.read())[1]
        done = self.onnx(os.path.join(folder, "model.onnx"), "--input", os.path.join(folder, "x.npy"), "--logdir", "example")
        assert [f"as written: {says}", f"optimised: {says}"] == done.stdout.splitlines()[:2], done.stdout

    def check_written(self):
        """A program whose model is recorded as it was written, if that is wanted."""
        for graph, kinds in ("", {"FusedGemm": 1, "MatMul": 0}), ("written", {"FusedGemm": 0, "MatMul": 1}):
            os.environ["NANLENS_ONNX_GRAPH"] = graph
            logdir, done = self.recorded(self.program, self.path("gemm_vector.onnx"), "x", "y", "1", "1", "file", "1", "2", "3")
            del os.environ["NANLENS_ONNX_GRAPH"]
            assert {kind: self.traces(logdir, kind) for kind in kinds} == kinds and done.stdout == "1e+30 1\n", done

    def check_one_line(self):
        """A program that has the header's lines."""
        logdir = os.path.join(self.work, "one_line_logdir")
        run(os.path.join(self.work, "one_line"), self.path("vector.onnx"), NANLENS_LOGDIR=logdir)
        assert self.why(logdir)["headline"]["op_name"] == "/blk/Log"

    def check_concurrent(self):
        """Runs of several threads at a time, only some of them bad: each bad row follows from the Log of its own run."""
        logdir, _ = self.recorded(self.program, self.path("vector.onnx"), "x", "y", "40", "8", "file", "1", "2")
        found = self.why(logdir)
        assert self.traces(logdir, "Exp") == 40 * 8
        assert found["total"] == 2 * 20 * 8 and len(found["causes"]) == 1, found["causes"]
        assert found["headline"]["reach"] == found["total"], found["headline"]

    def check_plugin(self):
        """A program that opens a plugin, which has brought the library for itself."""
        logdir, done = self.recorded(os.path.join(self.work, "loader"), os.path.join(self.work, "plugin.so"), self.path("vector.onnx"),
                                     "x", "y", "1", "1", "file", "1", "0.25")
        assert done.stdout == "0.5 1\n" and self.traces(logdir, "Log") == 1, done

    def check_external(self):
        """Weights in a file beside the model."""
        logdir, done = self.recorded(self.program, self.path("external.onnx"), "x", "y", "1", "1", "file", "1", "2", "3")
        assert 'Sqrt "root" got 1 negative value' in done.stderr and self.traces(logdir, "Const") == 1, done.stderr
        done = self.onnx(self.path("external.onnx"), "--input", self.path("vector.npy"), "--logdir", "external")
        assert done.stdout.count('Sqrt "root" got 1 negative value') == 2, done.stdout

    def check_expected(self):
        """An infinity that does no harm is told of."""
        done = self.onnx(self.path("inverse.onnx"), "--input", self.path("infinite.npy"), "--logdir", "expected", "--check")
        says = "Expected: x:0 brought in +∞, as a mask does: no NaN follows."
        assert done.stdout.splitlines()[:2] == [f"as written: {says}", f"optimised: {says}"], done.stdout

    def check_python(self):
        """A model with probes, and the library of their ops, in Python's onnxruntime."""
        probed = self.path("probed.onnx")
        self.onnx("--instrument", self.path("loop.onnx"), "-o", probed)
        logdir = os.path.join(self.work, "python")
        shutil.rmtree(logdir, ignore_errors=True)
        program = textwrap.dedent("""
            import sys, numpy, onnxruntime
            model, probed, data, library = sys.argv[1:]
            options = onnxruntime.SessionOptions()
            options.register_custom_ops_library(library)
            feed = {"x": numpy.load(data)}
            plain = onnxruntime.InferenceSession(model).run(None, feed)
            session = onnxruntime.InferenceSession(probed, options)
            for given, expected in zip(session.run(None, feed), plain, strict=True):
                numpy.testing.assert_array_equal(given, expected)
            """)
        run(self.python, "-c", program, self.path("loop.onnx"), probed, self.path("loop.npy"), self.custom_ops, NANLENS_LOGDIR=logdir)
        assert self.why(logdir)["headline"]["op_name"] == "loop/root_2"
        refused = run(self.nanlens, "onnx", "--instrument", probed, "-o", self.path("twice.onnx"), code=2)
        assert "it has probes already" in refused.stderr, refused.stderr

    def expect(self, *words, says):
        done = self.onnx(*words, code=2)
        assert done.stderr.startswith("nanlens: ") and done.stderr.count("\n") == 1 and done.stdout == "", done
        assert all(word in done.stderr for word in says), (says, done.stderr)

    def check_messages(self):
        """One clear message each."""
        log, data = self.path("log.onnx"), self.path("log.npy")
        self.expect("nowhere.onnx", says=["'nowhere.onnx' can't be read"])
        self.expect(data, says=["no ONNX model"])
        self.expect(self.path("cut.onnx"), says=["no ONNX model, or a damaged one"])
        self.expect(self.path("future.onnx"), "--input", data, says=["can't be run", "opset"])
        self.expect(self.path("reflected.onnx"), "--random", "1",
                    says=["can't be run", "'x' is float32 of shape [?], and --random takes 1 for an extent that is open: give --input x=FILE.npy"])
        self.expect(log, says=["needs 'x': float32 of shape [2, 3]", "--input NAME=FILE.npy"])
        self.expect(log, "--input", "z=" + data, says=["z=", "can't be read"])
        self.expect(log, "--input", data, "--input", data, says=["the model has no input for"])
        self.expect(log, "--input", self.path("double.npy"), says=["'x' is float32 of shape [2, 3]", "holds float64 of shape [2, 3]"])
        self.expect(log, "--input", self.path("vector.npy"), says=["holds float32 of shape [3]"])
        self.expect(log, "--input", self.path("columns.npy"), says=["column-major"])
        self.expect(log, "--input", self.path("cut.npy"), says=["cut short"])
        self.expect(log, "--input", log, says=["no .npy file"])
        assert not [name for name in os.listdir(self.work) if name.startswith("nanlens-")], "an empty logdir was left"
        for library, says in (("/nowhere/libonnxruntime.so", "can't be loaded"), ("libm.so.6", "no library of ONNX Runtime"),
                              (os.path.join(self.work, "old.so"), "is ONNX Runtime 1.2: 1.21 or later is needed")):
            done = run(self.nanlens, "onnx", log, "--input", data, "--library", library, code=2, cwd=self.work)
            assert says in done.stderr and done.stderr.count("\n") == 1, done.stderr
        done = self.onnx(log, "--random", "7", "--logdir", "random", "--check", code=1)
        assert 'as written: Log "/blk.0/Log"' in done.stdout, done.stdout


def build_program(work, library, cc, recorder):
    """The C program, linked with the wheel's library; and a library that is too old."""
    link = os.path.join(work, "libonnxruntime.so.1")
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(library, link)
    program = os.path.join(work, "program")
    link_flags = ["-L" + work, "-l:libonnxruntime.so.1", "-lpthread", "-Wl,-rpath," + work]
    run(cc, "-w", os.path.join(here, "program.c"), "-o", program, *link_flags)
    run(cc, "-shared", "-fPIC", os.path.join(here, "old.c"), "-o", os.path.join(work, "old.so"))
    run(cc, "-w", "-shared", "-fPIC", "-Dmain=plugin_main", os.path.join(here, "program.c"), "-o", os.path.join(work, "plugin.so"), *link_flags)
    run(cc, os.path.join(here, "loader.c"), "-o", os.path.join(work, "loader"), "-ldl")
    cxx = [words for words in ("g++", "clang++") if shutil.which(words)][0]
    run(cxx, "-std=c++20", "-O0", "-DNANLENS_SPLIT", "-I" + os.path.join(here, "../../../include"), os.path.join(here, "one_line.cpp"), "-o",
        os.path.join(work, "one_line"), *recorder, "-ldl", *link_flags)
    return program


def main():
    nanlens, work, cc, recorder = sys.argv[1:5]
    os.makedirs(work, exist_ok=True)
    found = wheel(work)
    if found is None:
        print("no ONNX Runtime here: pip can't install onnxruntime==" + VERSION)
        return 1 if os.environ.get("NANLENS_REQUIRE_HOSTS") else 77
    python, capi = found
    work = os.path.abspath(os.path.join(work, "run"))
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    library = os.path.join(capi, "libonnxruntime.so." + VERSION)
    subprocess.run([PYTHON, os.path.join(here, "score.py"), nanlens, library, work], check=True)
    test = Test(os.path.abspath(nanlens), work, python, library, build_program(work, library, cc, recorder.split()))
    for name in sorted(name for name in dir(test) if name.startswith("check_")):
        getattr(test, name)()
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
