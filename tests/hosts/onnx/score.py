"""Runs `nanlens onnx` on the models of models.py and scores what it says: `score.py NANLENS LIBRARY WORK_DIR`. Writes them, and the
models of the other tests, to WORK_DIR/models; exits with 1 if any answer is wrong."""
import json
import os
import re
import subprocess
import sys

import numpy

import models
import proto
from proto import FLOAT, Graph, node, value


def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def feeds(folder, name, feed):
    """{input: (file, array)}; of one feed the file has the model's name alone."""
    if not isinstance(feed, dict):
        return {"x": (os.path.join(folder, name + ".npy"), feed)}
    return {of: (os.path.join(folder, f"{name}.{of}.npy"), array) for of, array in feed.items()}


def write_models(folder):
    os.makedirs(folder)
    for name, (graph, feed, *_) in models.MODELS.items():
        write(folder, name + ".onnx", proto.model(graph))
        for path, array in feeds(folder, name, feed).values():
            numpy.save(path, array)
    n = value("x", FLOAT, ["n"])
    write(folder, "vector.onnx", proto.model(Graph(
        [node("Sub", "x c", "s", "sub"), node("Log", "s", "l", "/blk/Log"), node("Exp", "l", "y", "exp")], [n],
        [value("y", FLOAT, ["n"])], c=models.f(0.5))))
    write(folder, "gemm_vector.onnx", proto.model(Graph(
        [node("Unsqueeze", "x first", "u"), node("MatMul", "u w", "m", "mm"), node("Add", "m b", "s", "add"), node("Relu", "s", "r"), node("Squeeze", "r", "y")],
        [value("x", FLOAT, [3])], [value("y", FLOAT, [3])], first=numpy.array([0]), w=numpy.eye(3, dtype=numpy.float32), b=models.f(1e30, 0, 0))))
    w = models.f(1, -1, 1)
    write(folder, "weights.bin", w.tobytes())
    write(folder, "external.onnx", proto.model(Graph(
        [node("Mul", "x w", "m", "mul"), node("Sqrt", "m", "y", "root")], [value("x", FLOAT, [3])], [value("y", FLOAT, [3])],
        w=proto.external("w", w, "weights.bin"))))
    write(folder, "inverse.onnx", proto.model(Graph([node("Reciprocal", "x", "y", "inverse")], [n], [value("y", FLOAT, ["n"])])))
    numpy.save(os.path.join(folder, "infinite.npy"), models.f(1, numpy.inf))
    write(folder, "reflected.onnx", proto.model(Graph(
        [node("Pad", "x pads", "y", "pad", mode="reflect")], [n], [value("y", FLOAT, ["m"])], pads=numpy.array([1, 1]))))
    log = proto.model(models.MODELS["log"][0])
    write(folder, "cut.onnx", log[:len(log) // 2])
    write(folder, "future.onnx", proto.model(models.MODELS["log"][0], opset=9999))
    numpy.save(os.path.join(folder, "vector.npy"), models.f(1, 2, 3))
    numpy.save(os.path.join(folder, "double.npy"), models.plain.astype(numpy.float64))
    numpy.save(os.path.join(folder, "columns.npy"), numpy.asfortranarray(models.plain))
    with open(os.path.join(folder, "log.npy"), "rb") as file:
        write(folder, "cut.npy", file.read()[:-4])


def judge(expected, head):
    """(right, what was found)"""
    if head is None:
        return expected is None, "nothing wrong"
    said = f"{head['op_type']} {head['op_name']} ({head['class']}): {head['sentence']}"
    if expected is None:
        return False, said
    kind, name, words = expected
    iteration = re.escape(name) + r"(_\d+)?$"
    return head["op_type"] == kind and re.match(iteration, head["op_name"] or "") is not None and words in head["sentence"], said


def main():
    nanlens, library, work = sys.argv[1:4]
    folder = os.path.join(work, "models")
    write_models(folder)
    wrong = 0
    for name, (_, feed, *expected) in models.MODELS.items():
        logdir = os.path.join(work, "scored", name)
        done = subprocess.run([nanlens, "onnx", os.path.join(folder, name + ".onnx"), "--input",
                               *(f"{of}={path}" for of, (path, _) in feeds(folder, name, feed).items()),
                               "--library", library, "--logdir", logdir], stdout=subprocess.PIPE, text=True)
        said = done.stdout.splitlines()
        for graph, about in ("as-written", expected[0]), ("optimised", expected[-1]):
            try:
                answer = subprocess.run([nanlens, "why", "--json", os.path.join(logdir, graph)], stdout=subprocess.PIPE, check=True)
                head = json.loads(answer.stdout)["headline"]
                right, found = judge(about, head)
                line = graph.replace("-", " ") + ": " + ("no NaN or ∞" if head is None else head["sentence"])
                right = right and any(one.startswith(line) for one in said)
            except (subprocess.CalledProcessError, json.JSONDecodeError) as error:
                right, found = False, f"failed: {error}"
            wrong += not right
            print(f"{name:14}{graph:11}{'  ' if right else 'X '}{found}" + ("" if right else f"; expected {about}, said {said}"))
    print(f"right: {2 * len(models.MODELS) - wrong} of {2 * len(models.MODELS)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
