#!/usr/bin/env python3
"""NumPy recorded through ctypes: `softmax.py LIBNANLENS_C LOGDIR`. The arrays reach nanlens by DLPack, without a copy.

A loss that becomes infinite: softmax underflows, and the logarithm gets its zero.
"""
import ctypes
import sys

import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("device", ctypes.c_char_p)]


class Options(ctypes.Structure):
    _fields_ = [("logdir", ctypes.c_char_p), ("tensor_debug_mode", ctypes.c_int32), ("statistics", ctypes.c_int32),
                ("circular_buffer_size", ctypes.c_int64)]


class Op(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("function", ctypes.c_char_p),
                ("line", ctypes.c_uint32), ("duration_ns", ctypes.c_uint64), ("inputs", ctypes.POINTER(Tensor)),
                ("num_inputs", ctypes.c_size_t), ("outputs", ctypes.POINTER(Tensor)), ("num_outputs", ctypes.c_size_t)]


def pointer_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, b"dltensor")


class Nanlens:
    def __init__(self, library, logdir):
        self.lib = ctypes.CDLL(library)
        for name in ("nanlens_open", "nanlens_op", "nanlens_from_dlpack"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.nanlens_from_dlpack.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensor)]
        wrong = self.lib.nanlens_open(ctypes.byref(Options(logdir=logdir.encode())))
        if wrong:
            raise ValueError(wrong.decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.nanlens_close()

    def tensors(self, arrays):
        capsules = [array.__dlpack__() for array in arrays]
        tensors = (Tensor * len(arrays))()
        for tensor, capsule in zip(tensors, capsules):
            wrong = self.lib.nanlens_from_dlpack(pointer_of(capsule), ctypes.byref(tensor))
            if wrong:
                raise TypeError(wrong.decode())
        return tensors, capsules  # which own what the tensors point to

    def op(self, kind, output, *inputs):
        """Records that `output` was made of `inputs`, and returns it."""
        caller = sys._getframe(1)
        ins, in_owners = self.tensors(inputs)
        outs, out_owners = self.tensors([output])
        self.lib.nanlens_op(ctypes.byref(Op(kind.encode(), None, caller.f_code.co_filename.encode(), caller.f_code.co_name.encode(),
                                            caller.f_lineno, 0, ins, len(inputs), outs, 1)))
        del in_owners, out_owners
        return output


def main():
    with Nanlens(sys.argv[1], sys.argv[2]) as nanlens, np.errstate(divide="ignore"):
        logits = nanlens.op("Const", np.array([[0, 10, 200], [1, 2, 3]], np.float32))
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities = nanlens.op("Softmax", shifted / shifted.sum(axis=1, keepdims=True), logits)
        nanlens.op("Log", np.log(probabilities), probabilities)


main()
