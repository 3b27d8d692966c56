"""Exceptions of native code that Python calls. The comments say what is trapped where; run_test.py reads them."""
import ctypes
import os
import sys
import threading

import numpy as np

extension = ctypes.CDLL(sys.argv[1])
extension.ratio.restype = ctypes.c_double
extension.ratio.argtypes = [ctypes.c_double] * 2
zeros = np.zeros(64)
np.seterr(all="ignore")


class Model:
    def ratio(self, x):
        return x / x  # 0/0

    def root(self, x):
        return [float(r) for r in np.sqrt(x - 1)]  # root of a negative number


def in_python(x):
    return x * 1e300  # overflow


def in_a_generator(n):
    for i in range(n):
        yield np.float64(i + 1) / np.float64(0)  # x/0


def from_an_extension():
    return extension.ratio(0.0, 0.0)  # 0/0


def in_a_thread():
    zeros / zeros  # 0/0


in_python(1e200)
Model().ratio(zeros)
Model().root(zeros)
print(len(list(in_a_generator(3))), from_an_extension())
thread = threading.Thread(target=in_a_thread)
thread.start()
thread.join()
child = os.fork()
if child == 0:
    np.ones(4) / np.zeros(4)  # x/0
    os._exit(0)
print(os.waitpid(child, 0)[1])
