"""ONNX models by hand, so that the tests need no package that makes them: the wire format of the few messages in use."""
import struct

import numpy

FLOAT, INT64, BOOL, FLOAT16, DOUBLE = 1, 7, 9, 10, 11
TYPES = {"float32": FLOAT, "int64": INT64, "bool": BOOL, "float16": FLOAT16, "float64": DOUBLE}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    array = numpy.asarray(array)
    dims = b"".join(number(1, d) for d in array.shape)
    return dims + number(2, TYPES[str(array.dtype)]) + text(8, name) + text(9, array.tobytes())


def external(name, array, location):
    """The same of an initialiser whose bytes are in a file."""
    dims = b"".join(number(1, d) for d in array.shape)
    return dims + number(2, TYPES[str(array.dtype)]) + text(8, name) + text(13, text(1, "location") + text(2, location)) + number(14, 1)


def value(name, dtype, shape):
    """A tensor's name, type and shape: extents are numbers, or names."""
    dims = b"".join(text(1, number(1, d) if isinstance(d, int) else text(2, d)) for d in shape)
    return text(1, name) + text(2, text(1, number(1, dtype) + text(2, dims)))


def attribute(name, what):
    if isinstance(what, Graph):
        return text(1, name) + text(6, what.bytes()) + number(20, 5)
    if isinstance(what, str):
        return text(1, name) + text(4, what) + number(20, 3)
    if isinstance(what, float):
        return text(1, name) + varint(2 << 3 | 5) + struct.pack("<f", what) + number(20, 1)
    if isinstance(what, numpy.ndarray):
        return text(1, name) + text(5, tensor("", what)) + number(20, 4)
    if isinstance(what, (list, tuple)):
        return text(1, name) + b"".join(number(8, i) for i in what) + number(20, 7)
    return text(1, name) + number(3, what) + number(20, 2)


def node(kind, inputs, outputs, name="", domain="", **attributes):
    return (b"".join(text(1, i) for i in inputs.split()) + b"".join(text(2, o) for o in outputs.split()) +
            (text(3, name) if name else b"") + text(4, kind) +
            b"".join(text(5, attribute(k, v)) for k, v in attributes.items()) + (text(7, domain) if domain else b""))


class Graph:
    def __init__(self, nodes, inputs, outputs, **held):
        self.nodes, self.inputs, self.outputs, self.held = nodes, inputs, outputs, held

    def bytes(self):
        return (b"".join(text(1, n) for n in self.nodes) + text(2, "graph") +
                b"".join(text(5, a if isinstance(a, bytes) else tensor(n, a)) for n, a in self.held.items()) +
                b"".join(text(11, i) for i in self.inputs) + b"".join(text(12, o) for o in self.outputs))


def model(graph, opset=17, ir=8):
    return number(1, ir) + text(7, graph.bytes()) + text(8, number(2, opset))
