"""What TensorFlow would have recorded in a mode that tells less: `other_modes.py FULL_HEALTH_LOGDIR LOGDIR MODE` makes such a copy.

A tensor's summary in CONCISE_HEALTH and CURT_HEALTH follows from that in FULL_HEALTH, and all else on record is the same: recording
a program once is enough to know all three. `--check FULL_HEALTH_LOGDIR LOGDIR MODE`
compares what would be made with a recording of the same program that TensorFlow has made in that mode.
"""
import collections
import os
import shutil
import struct
import sys

CURT, CONCISE, FULL = "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH"
# tensor_id, device_id, dtype, rank, elements, −∞, +∞, NaN, negative, zero, positive.
FULL_SIZE = 11


def summary(full, mode):
    """The numbers of one tensor, given those of FULL_HEALTH."""
    tensor_id, elements, bad = full[0], full[4], full[5:8]
    return (tensor_id, elements, *bad) if mode == CONCISE else (tensor_id, float(any(bad)))


def convert(tensor, mode):
    if len(tensor.tensor_content) != 8 * FULL_SIZE:
        return  # of what is no float nothing is told in any of these modes
    numbers = summary(struct.unpack(f"<{FULL_SIZE}d", tensor.tensor_content), mode)
    tensor.tensor_content = struct.pack(f"<{len(numbers)}d", *numbers)
    tensor.tensor_shape.dim[0].size = len(numbers)


def events(path):
    from tensorflow.core.protobuf import debug_event_pb2
    from tensorflow.python.lib.io import tf_record
    for record in tf_record.tf_record_iterator(path):
        yield debug_event_pb2.DebugEvent.FromString(record)


def converted(path, mode):
    """The events of an .execution or .graph_execution_traces file, as of another mode."""
    from tensorflow.core.protobuf import debug_event_pb2
    number = debug_event_pb2.TensorDebugMode.Value(mode)
    for event in events(path):
        if event.HasField("execution"):
            event.execution.tensor_debug_mode = number
            tensors = event.execution.tensor_protos
        elif event.HasField("graph_execution_trace"):
            event.graph_execution_trace.tensor_debug_mode = number
            tensors = [event.graph_execution_trace.tensor_proto]
        else:
            tensors = []
        for tensor in tensors:
            convert(tensor, mode)
        yield event


def has_summaries(name):
    return name.endswith((".execution", ".graph_execution_traces"))


def copy_as(full, to, mode):
    import tensorflow as tf
    os.mkdir(to)
    for name in os.listdir(full):
        path, target = os.path.join(full, name), os.path.join(to, name)
        if not has_summaries(name):
            shutil.copy(path, target)
            continue
        with tf.io.TFRecordWriter(target) as file:
            for event in converted(path, mode):
                file.write(event.SerializeToString())


def told(event):
    """What an event tells but for what another recording has otherwise: times, ids and the names that are made of them."""
    if event.HasField("execution"):
        item, tensors, slot = event.execution, event.execution.tensor_protos, None
        name = item.op_type.rsplit("_", 1)[0] if item.graph_id else item.op_type
    elif event.HasField("graph_execution_trace"):
        item = event.graph_execution_trace
        name, tensors, slot = item.op_name, [item.tensor_proto], item.output_slot
    else:
        return None
    return name, slot, item.tensor_debug_mode, tuple((t.dtype, tuple(d.size for d in t.tensor_shape.dim), t.tensor_content[8:]) for t in tensors)


def check(full, recorded, mode):
    """What is told otherwise, and how often."""
    differing = collections.Counter()
    for folder, sign, read in ((full, 1, lambda path: converted(path, mode)), (recorded, -1, events)):
        for name in filter(has_summaries, os.listdir(folder)):
            for event in read(os.path.join(folder, name)):
                differing[told(event)] += sign
    return {what: count for what, count in differing.items() if count}


def main():
    if sys.argv[1] != "--check":
        copy_as(*sys.argv[1:4])
        return 0
    differing = check(*sys.argv[2:5])
    for what, count in differing.items():
        print(f"{count:+} times", what)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
