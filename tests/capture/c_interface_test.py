#!/usr/bin/env python3
"""The C interface by its two examples, and what it refuses: `c_interface_test.py NANLENS SOFTMAX LIBNANLENS_C EXAMPLES`."""
import ctypes
import json
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


test_c()
test_python()
test_refusals()
print("as expected")
