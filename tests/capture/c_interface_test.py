#!/usr/bin/env python3
"""The C interface by its two examples, and what it refuses: `c_interface_test.py NANLENS SOFTMAX LIBNANLENS_C EXAMPLES`."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

nanlens, program, library, examples = sys.argv[1:5]
work = pathlib.Path(tempfile.mkdtemp())


def lines(logdir, what):
    text = subprocess.run([nanlens, "dump", str(logdir), "--what", what], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def why(logdir):
    return subprocess.run([nanlens, "why", str(logdir)], stdout=subprocess.PIPE, text=True).stdout


def check(what, holds):
    if not holds:
        sys.exit(f"FAILED: {what}")


def test_c():
    logdir = work / "c"
    subprocess.run([program, str(logdir)], check=True)
    calls, traces = lines(logdir, "executions"), lines(logdir, "traces")
    check("a constant and a call", [c["op_type"].split("_loss_")[0] for c in calls] == ["Const", "__inference"])
    check("three rows", [t["op_name"] for t in traces] == ["logits", "Softmax", "Log"])
    answer = why(logdir)
    check("why: " + answer, "Log at softmax.c:" in answer and "2 zeros of Softmax into −∞" in answer)


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    sys.exit("FAILED: no numpy (Debian: python3-numpy)")


def test_python():
    logdir = work / "python"
    subprocess.run([python_with_numpy(), str(pathlib.Path(examples) / "python" / "softmax.py"), library, str(logdir)], check=True)
    answer = why(logdir)
    check("why: " + answer, "Log at softmax.py:" in answer and "of the result of Softmax into −∞" in answer)
    calls = lines(logdir, "executions")
    check("linked", calls[2]["input_tensor_ids"] == calls[1]["output_tensor_ids"])


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


def test_refusals():
    lib = ctypes.CDLL(library)
    for name in ("nanlens_open", "nanlens_op", "nanlens_from_dlpack"):
        getattr(lib, name).restype = ctypes.c_char_p
    check("no options", b"needs options" in lib.nanlens_open(None))
    check("no logdir", b"logdir" in lib.nanlens_open((ctypes.c_char * 64)()))
    check("recording is off", lib.nanlens_op(None) is None)
    to = (ctypes.c_char * 64)()
    for tensor, reason in ((DlTensor(ndim=17, lanes=1, code=2, bits=32), b"dimensions"), (DlTensor(lanes=4, code=2, bits=32), b"lanes"),
                           (DlTensor(lanes=1, code=2, bits=24), b"element type")):
        check(reason.decode(), reason in lib.nanlens_from_dlpack(ctypes.byref(tensor), to))
    check("no tensor", b"no tensor" in lib.nanlens_from_dlpack(None, to))
    lib.nanlens_close()


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("device", ctypes.c_char_p)]


class Op(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("function", ctypes.c_char_p),
                ("line", ctypes.c_uint32), ("duration_ns", ctypes.c_uint64), ("inputs", ctypes.c_void_p), ("num_inputs", ctypes.c_size_t),
                ("outputs", ctypes.c_void_p), ("num_outputs", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("logdir", ctypes.c_char_p), ("tensor_debug_mode", ctypes.c_int32), ("statistics", ctypes.c_int32),
                ("circular_buffer_size", ctypes.c_int64)]


def test_scope():
    lib = ctypes.CDLL(library)
    lib.nanlens_open.restype = lib.nanlens_end_op.restype = ctypes.c_char_p
    lib.nanlens_begin_op.restype = ctypes.c_void_p
    lib.nanlens_end_op.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    check("recording is off", lib.nanlens_begin_op(ctypes.byref(Op(type=b"Scale"))) is None and lib.nanlens_end_op(None, None, 0) is None)
    logdir = work / "scope"
    check("opened", lib.nanlens_open(ctypes.byref(Options(logdir=str(logdir).encode()))) is None)
    lib.nanlens_check_numerics(1)
    x, shape = (ctypes.c_float * 4)(1, float("nan"), 3, 4), (ctypes.c_int64 * 1)(4)
    tensor = Tensor(data=ctypes.addressof(x), dtype=1, rank=1, shape=ctypes.addressof(shape))
    op = Op(type=b"Scale", file=b"scale.c", line=7, inputs=ctypes.addressof(tensor), num_inputs=1)
    check("nothing is recorded", lib.nanlens_end_op(lib.nanlens_begin_op(ctypes.byref(op)), None, 0) is None)
    scope = lib.nanlens_begin_op(ctypes.byref(op))
    x[:] = [2 * v for v in x]
    found = lib.nanlens_end_op(scope, ctypes.byref(tensor), 1)
    check(f"check_numerics: {found}", b"Scale" in found)
    lib.nanlens_check_numerics(0)
    lib.nanlens_close()
    (scale,) = lines(logdir, "executions")
    check("its time, and what it was given", scale["duration_ns"] > 0 and scale["input_evidence"][0]["counts"] == [0, 0, 1, 0, 0, 3])
    check("why: " + why(logdir), "The NaN was already in input 0 of Scale at scale.c:7 (1 of 4 elements)" in why(logdir))


# Two ops a step, which ends as often as lines come in; each is answered.
STEPPING = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.nanlens_op.restype = ctypes.c_char_p
op = (ctypes.c_void_p * 10)()
kind = ctypes.c_char_p(b"Op")
op[0] = ctypes.cast(kind, ctypes.c_void_p)
for line in sys.stdin:
    lib.nanlens_op(ctypes.byref(op))
    lib.nanlens_op(ctypes.byref(op))
    lib.nanlens_step()
    print("done", flush=True)
"""


class Stepping:
    def __init__(self, logdir, **variables):
        self.logdir = logdir
        self.process = subprocess.Popen([sys.executable, "-c", STEPPING, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "NANLENS_LOGDIR": str(logdir), **variables})

    def steps(self, count):
        for _ in range(count):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            check("a step", self.process.stdout.readline() == "done\n")

    def end(self):
        self.process.stdin.close()
        check("ended", self.process.wait() == 0)
        (run,) = lines(self.logdir, "runs")
        return run["num_executions"], run["left_out"]


def answer(*words, code=0):
    r = subprocess.run([nanlens, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(f"{words}: {r}", r.returncode == code)
    return r.stdout + r.stderr


def test_steps():
    for variables, recorded in (({"NANLENS_EVERY": "3"}, (0, 3, 6)), ({"NANLENS_STEPS": "2..4"}, (2, 3, 4)), ({"NANLENS_STEPS": "..0"}, (0,)),
                                ({"NANLENS_STEPS": "5.."}, (5, 6))):
        logdir = work / "-".join(variables.values())
        stepping = Stepping(logdir, **variables)
        stepping.steps(7)
        count, left_out = stepping.end()
        check(f"{variables}: {count}, {left_out}", count == 2 * len(recorded))
        check(f"{left_out}", (left_out["steps"], left_out["ops"]) == (7 - len(recorded), 2 * (7 - len(recorded))))
        word = f"{7 - len(recorded)} steps and {2 * (7 - len(recorded))} ops (in "
        for command in ("why", "report"):
            check(f"{command}: {answer(command, logdir)}", word in answer(command, logdir) and "left out, as asked for" in answer(command, logdir))
    for name, value in (("NANLENS_EVERY", "0"), ("NANLENS_EVERY", "x"), ("NANLENS_STEPS", "3"), ("NANLENS_STEPS", ".."), ("NANLENS_STEPS", "5..2")):
        stepping = subprocess.run([sys.executable, "-c", STEPPING, library], input="\n", text=True, stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, env={**os.environ, "NANLENS_LOGDIR": str(work / "none"), name: value})
        check(f"{name}={value}: {stepping.stderr}", stepping.stderr.count("\n") == 1 and "nothing is recorded" in stepping.stderr)


def test_switch():
    logdir = work / "switch"
    check("nobody is there", "is no directory" in answer("off", logdir, code=2))
    stepping = Stepping(logdir)
    stepping.steps(1)
    check("off", "1 of 1 program resting" in answer("off", logdir))
    stepping.steps(4)
    check("on", "1 of 1 program recording" in answer("on", logdir))
    stepping.steps(1)
    check("off again", "1 of 1 program resting" in answer("off", logdir))
    stepping.steps(1)
    count, left_out = stepping.end()
    check(f"recorded: {count}, {left_out}", (count, left_out["steps"], left_out["ops"]) == (4, 5, 10))
    check("it has ended", "no program records" in answer("off", logdir, code=2))
    # What was killed while it rested has told by then that it left something out.
    stepping = Stepping(work / "killed")
    stepping.steps(1)
    answer("off", work / "killed")
    stepping.steps(2)
    while lines(work / "killed", "runs")[0]["left_out"] is None:
        pass
    stepping.process.kill()
    stepping.process.wait()
    check("told: " + answer("check", work / "killed", code=3), "t least " in answer("check", work / "killed", code=3))


test_c()
test_python()
test_refusals()
test_scope()
test_steps()
test_switch()
print("as expected")
