"""What recording a model costs: `onnx.py LIBNANLENS_ONNX NANLENS [RUNS]`, with a Python that has onnxruntime. A small CNN and a
transformer block, each run as it is, unoptimised, with probes as written, and with probes as optimised, in turn. Prints a JSON object
for each way: the least and the median of what a run takes."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["NANLENS_LOGDIR"] = tempfile.mkdtemp()
import numpy
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../hosts/onnx"))
import proto
from proto import FLOAT, Graph, node, value

random = numpy.random.default_rng(0)


def weights(*shape):
    return (random.standard_normal(shape) / numpy.sqrt(shape[0] if len(shape) == 2 else numpy.prod(shape[1:]))).astype(numpy.float32)


def cnn():
    nodes, held, last = [], {}, "x"
    for i, (before, after) in enumerate(((3, 32), (32, 64), (64, 64), (64, 128))):
        held[f"w{i}"] = weights(after, before, 3, 3)
        nodes += [node("Conv", f"{last} w{i}", f"c{i}", f"conv{i}", pads=[1, 1, 1, 1]), node("Relu", f"c{i}", f"r{i}", f"relu{i}"),
                  node("MaxPool", f"r{i}", f"p{i}", f"pool{i}", kernel_shape=[2, 2], strides=[2, 2])]
        last = f"p{i}"
    held["w"] = weights(128, 10)
    nodes += [node("GlobalAveragePool", last, "g", "average"), node("Flatten", "g", "f", "flatten"), node("MatMul", "f w", "l", "head"),
              node("Softmax", "l", "y", "softmax")]
    return Graph(nodes, [value("x", FLOAT, [1, 3, 96, 96])], [value("y", FLOAT, [1, 10])], **held), (1, 3, 96, 96)


def transformer(length=128, width=256, heads=4):
    nodes, held = [], {"scale": numpy.ones(width, numpy.float32), "shift": numpy.zeros(width, numpy.float32)}

    def dense(source, to, rows, columns):
        held["w_" + to], held["b_" + to] = weights(rows, columns), numpy.zeros(columns, numpy.float32)
        nodes.extend([node("MatMul", f"{source} w_{to}", "m_" + to, "dense_" + to), node("Add", f"m_{to} b_{to}", to, "bias_" + to)])

    nodes.append(node("LayerNormalization", "x scale shift", "n1", "norm1"))
    held["split"] = numpy.array([1, length, heads, width // heads])
    for part in "qkv":
        dense("n1", part, width, width)
        order = [0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
        nodes.extend([node("Reshape", part + " split", part + "s", part + "_split"), node("Transpose", part + "s", part + "h", part + "_turn", perm=order)])
    held["root"], held["joined"] = numpy.array(8.0, numpy.float32), numpy.array([1, length, width])
    nodes.extend([node("MatMul", "qh kh", "s", "scores"), node("Div", "s root", "d", "scaled"), node("Softmax", "d", "a", "attention"),
                  node("MatMul", "a vh", "o", "context"), node("Transpose", "o", "ot", "turn", perm=[0, 2, 1, 3]), node("Reshape", "ot joined", "oj", "join")])
    dense("oj", "out", width, width)
    nodes.extend([node("Add", "x out", "r1", "residual1"), node("LayerNormalization", "r1 scale shift", "n2", "norm2")])
    dense("n2", "up", width, 4 * width)
    for name, number in ("root2", 1.41421356), ("one", 1), ("half", 0.5):
        held[name] = numpy.array(number, numpy.float32)
    nodes.extend([node("Div", "up root2", "g1", "gelu1"), node("Erf", "g1", "g2", "gelu2"), node("Add", "g2 one", "g3", "gelu3"),
                  node("Mul", "up g3", "g4", "gelu4"), node("Mul", "g4 half", "g5", "gelu5")])
    dense("g5", "down", 4 * width, width)
    nodes.append(node("Add", "r1 down", "y", "residual2"))
    return Graph(nodes, [value("x", FLOAT, [1, length, width])], [value("y", FLOAT, [1, length, width])], **held), (1, length, width)


def session(path, library=None, level=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if level is not None:
        options.graph_optimization_level = level
    if library:
        options.register_custom_ops_library(library)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    library, nanlens = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    folder = tempfile.mkdtemp()
    off = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, (graph, shape) in (("CNN", cnn()), ("transformer", transformer())):
        plain, optimised = (os.path.join(folder, name + part) for part in (".onnx", "-optimised.onnx"))
        with open(plain, "wb") as file:
            file.write(proto.model(graph))
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath, options.log_severity_level = optimised, 3
        onnxruntime.InferenceSession(plain, options, providers=["CPUExecutionProvider"])
        for path in plain, optimised:
            subprocess.run([nanlens, "onnx", "--instrument", path, "-o", path + ".probed"], check=True)
        ways = {"as it is": session(plain), "unoptimised": session(plain, level=off), "probes, as written": session(plain + ".probed", library),
                "probes, as optimised": session(optimised + ".probed", library, off)}
        feed = {"x": random.standard_normal(shape).astype(numpy.float32)}
        times = {way: [] for way in ways}
        for _ in range(runs):
            for way, one in ways.items():
                begin = time.perf_counter()
                one.run(["y"], feed)
                times[way].append(time.perf_counter() - begin)
        for way, all_times in times.items():
            print(json.dumps({"model": name, "way": way, "us": 1e6 * min(all_times), "median_us": 1e6 * statistics.median(all_times)}), flush=True)


if __name__ == "__main__":
    main()
