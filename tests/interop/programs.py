"""Programs for the real TensorFlow to record: `programs.py [NAME LOGDIR MODE]...`.

Each runs in a process of its own, as some change TensorFlow for good; it is imported once for all, before they part.
"""
import os
import sys

import numpy as np
import tensorflow as tf


def enable(logdir, mode, ring=-1, **filters):
    tf.debugging.experimental.enable_dump_debug_info(
        logdir, tensor_debug_mode=mode, circular_buffer_size=ring, **filters)


@tf.function
def control(x):
    y = tf.math.log(x)
    if tf.reduce_sum(x) > 0:
        y = y * 2.0
    else:
        y = -y
    for _ in tf.range(3):
        y = y + 1.0
    return y, tf.shape(y), inner(y)


@tf.function
def inner(x):
    return tf.nn.softmax(x) / tf.reduce_max(x)


def core(logdir, mode):
    enable(logdir, mode)
    for scale in (0.0, 1.0, -1.0):
        control(tf.constant([[0.0, 1.0], [2.0, 3.0]]) * scale)
    x = tf.Variable([1.0, 0.0])
    with tf.GradientTape() as tape:
        loss = inner(tf.math.log(x))
    tape.gradient(loss, x)
    for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.int32, tf.int8, tf.bool, tf.complex64, tf.uint16):
        tf.cast(tf.constant([[0.0, 1.0, 2.0]]), dtype)
    tf.strings.as_string(tf.constant([1.0, 2.0]))
    tf.reshape(tf.range(0.0, 120.0), [2, 1, 3, 1, 2, 1, 2, 5])
    tf.zeros([0, 3]) + 1.0
    tf.split(tf.constant([1.0, np.nan, 3.0, np.inf]), 2)
    tf.unique_with_counts(tf.constant([1.0, 1.0, 2.0]))


def keras(logdir, mode):
    enable(logdir, mode)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones([16, 3], np.float32), np.full([16, 1], np.nan, np.float32), batch_size=8, verbose=0)


def data(logdir, mode):
    enable(logdir, mode)
    dataset = tf.data.Dataset.range(8).map(lambda i: tf.math.log(tf.cast(i, tf.float32))).batch(4).prefetch(1)
    for batch in dataset:
        inner(batch[tf.newaxis])


def mirrored(logdir, mode):
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    enable(logdir, mode)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        return strategy.run(lambda: tf.math.log(v - 1.0))

    step()


def session(logdir, mode):
    tf.compat.v1.disable_eager_execution()
    enable(logdir, mode)
    x = tf.compat.v1.placeholder(tf.float32, [2])
    y = tf.math.log(x) * 2.0
    with tf.compat.v1.Session() as s:
        for value in ([1.0, 2.0], [0.0, -1.0]):
            s.run(y, {x: value})


def filtered(logdir, mode):
    enable(logdir, mode, op_regex="(Log|Mul)", tensor_dtypes=[tf.float32, tf.float64])
    control(tf.constant([[0.0, 1.0], [2.0, 3.0]]))
    tf.math.log(tf.constant([0.0])) * 2.0
    tf.split(tf.constant([1.0, 2.0]), 2)


def ring(logdir, mode):
    enable(logdir, mode, ring=10)
    for scale in range(5):
        control(tf.constant([[0.0, 1.0], [2.0, 3.0]]) * float(scale))


if __name__ == "__main__":
    for at in range(1, len(sys.argv), 3):
        name, to, tensor_debug_mode = sys.argv[at:at + 3]
        child = os.fork()
        if child == 0:
            globals()[name](to, tensor_debug_mode)
            sys.exit(0)  # with TensorFlow's own handlers, which close its files
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{name} failed")
