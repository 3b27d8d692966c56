"""What TensorFlow takes for the same: `peers.py summaries`, `peers.py reader LOGDIR` or `peers.py mnist`. Prints JSON lines."""
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")


def best(f, seconds=0.4):
    f()
    least, start = 1e9, time.perf_counter()
    while time.perf_counter() - start < seconds:
        t = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - t)
    return least


def summaries():
    import numpy as np
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    mi = 1 << 20
    scalar = tf.constant(1.0)
    dispatch = best(lambda: tf.raw_ops.Identity(input=scalar))
    jobs = [("FULL", 4, "float32", n) for n in (16 * mi, 64 * mi, 16, 1024, 65536)]
    jobs += [("CURT", 2, "float32", 16 * mi), ("CONCISE", 3, "float32", 16 * mi), ("FULL", 4, "float64", 8 * mi),
             ("FULL", 4, "float16", 32 * mi), ("FULL", 4, "bfloat16", 32 * mi)]
    for name, mode, dtype, n in jobs:
        x = tf.cast(tf.constant(np.random.default_rng(1).standard_normal(min(n, 16 * mi), np.float32)), dtype)
        if n > 16 * mi:
            x = tf.tile(x, [n // (16 * mi)])
        ns = 1e9 * (best(lambda: tf.raw_ops.DebugNumericSummaryV2(input=x, output_dtype=tf.float64, tensor_debug_mode=mode,
                                                                  tensor_id=1)) - dispatch)
        print(json.dumps({"name": f"{name}/{dtype}/normal/{n}", "ns": ns}), flush=True)


def reader(logdir):
    from tensorflow.python.debug.lib import debug_events_monitors, debug_events_reader
    start = time.perf_counter()
    with debug_events_reader.DebugDataReader(logdir) as r:
        monitor = debug_events_monitors.InfNanMonitor(r)
        r.update()
        alerts = len(monitor.alerts())
        print(json.dumps({"name": "reader", "seconds": time.perf_counter() - start, "alerts": alerts}), flush=True)


# The walkthrough's model in TensorFlow, with and without dumping.
MNIST = """
import sys, time, numpy as np, tensorflow as tf
if len(sys.argv) > 1:
    tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode=sys.argv[2], circular_buffer_size=-1)
rng = np.random.default_rng(1)
x = tf.constant(rng.random((100, 784)), tf.float32); y = tf.one_hot(rng.integers(0, 10, 100), 10)
t = tf.constant(rng.random((1000, 784)), tf.float32)
init = lambda *s: tf.Variable(tf.random.truncated_normal(s, stddev=0.1, seed=1))
w1, b1, w2, b2 = init(784, 500), tf.Variable(tf.fill([500], .1)), init(500, 10), tf.Variable(tf.fill([10], .1))
@tf.function
def dense(x, w, b): return tf.matmul(x, w) + b
@tf.function
def model(x): return tf.nn.softmax(dense(tf.nn.relu(dense(x, w1, b1)), w2, b2))
@tf.function
def loss(p, y): return tf.reduce_mean(-y * tf.math.log(p))
def step():
    with tf.GradientTape() as tape: l = loss(model(x), y)
    for v, g in zip((w1, b1, w2, b2), tape.gradient(l, (w1, b1, w2, b2))): v.assign_sub(0.01 * g)
    model(t)
step()
start = time.perf_counter()
for _ in range(50): step()
print(time.perf_counter() - start)
"""


def mnist():
    seconds = {}
    for _ in range(3):
        for name, args in (("off", []), ("FULL_HEALTH", ["FULL_HEALTH"]), ("NO_TENSOR", ["NO_TENSOR"])):
            with tempfile.TemporaryDirectory() as d:
                out = subprocess.run([sys.executable, "-c", MNIST, *([d, *args] if args else [])], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     check=True, text=True).stdout
            seconds[name] = min(seconds.get(name, 1e9), float(out.split()[-1]))
    for name, value in seconds.items():
        print(json.dumps({"name": f"mnist {name}", "seconds": value}), flush=True)


if __name__ == "__main__":
    {"summaries": summaries, "mnist": mnist}.get(sys.argv[1], lambda: reader(sys.argv[2]))()
