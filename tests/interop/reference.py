"""What the real TensorFlow's reader says of logdirs, as JSON with the field names of `nanlens dump`.

`reference.py OUTPUT LOGDIR...` writes {logdir: answers}. Alerts come from TensorFlow's InfNanMonitor (not in FULL_TENSOR, where
it deadlocks).
"""
import json
import math
import sys

import numpy as np
from tensorflow.python.debug.lib import debug_events_monitors
from tensorflow.python.debug.lib import debug_events_reader

FULL_TENSOR = 7


def number(x):
    x = float(x)
    if math.isfinite(x):
        return x
    return "nan" if x != x else "inf" if x > 0 else "-inf"


def values(v):
    return None if v is None else [number(x) for x in np.asarray(v).ravel()]


def ids(x):
    return [int(i) for i in x] if x is not None else []


def execution(e):
    per_output = e.debug_tensor_values
    return {
        "wall_time": e.wall_time, "op_type": e.op_type, "num_outputs": len(e.output_tensor_ids or []),
        "host_name": e.host_name, "graph_id": e.graph_id or None, "tensor_debug_mode": int(e.tensor_debug_mode),
        "input_tensor_ids": ids(e.input_tensor_ids), "output_tensor_ids": ids(e.output_tensor_ids),
        "output_tensor_device_ids": ids(e.output_tensor_device_ids), "stack_frame_ids": list(e.stack_frame_ids),
        "debug_tensor_values": None if per_output is None else [values(v) for v in per_output],
    }


def trace(t):
    return {
        "wall_time": t.wall_time, "op_type": t.op_type, "op_name": t.op_name, "output_slot": t.output_slot,
        "graph_id": t.graph_id, "graph_ids": list(t.graph_ids), "device_name": t.device_name,
        "tensor_debug_mode": int(t.tensor_debug_mode), "debug_tensor_value": values(t.debug_tensor_value),
    }


def op(graph, o, reader):
    consumers = [[] for _ in range(o.num_outputs)]
    for slot, name, input_slot in graph.get_op_consumers(o.op_name):
        if slot < o.num_outputs:
            consumers[slot].append({"op_name": name, "input_slot": input_slot})
    chain = []
    g = graph
    while g is not None:
        chain.insert(0, g.graph_id)
        g = reader.graph_by_id(g.outer_graph_id) if g.outer_graph_id else None
    return {
        "graph_id": graph.graph_id, "graph_name": graph.name or None, "graph_ids": chain, "wall_time": o.wall_time,
        "op_name": o.op_name, "op_type": o.op_type, "num_outputs": o.num_outputs,
        "input_names": list(o.input_names or []), "output_tensor_ids": ids(o.output_tensor_ids), "host_name": o.host_name,
        "stack_frame_ids": list(o.stack_frame_ids), "consumers": consumers,
    }


def alert(a):
    def count(x):
        return None if x is None else int(x)
    return {
        "wall_time": a.wall_time, "op_type": a.op_type, "output_slot": int(a.output_slot), "size": count(a.size),
        "num_neg_inf": count(a.num_neg_inf), "num_pos_inf": count(a.num_pos_inf), "num_nan": count(a.num_nan),
        "execution_index": a.execution_index, "graph_execution_trace_index": a.graph_execution_trace_index,
    }


def answers(logdir):
    reader = debug_events_reader.DebugDataReader(logdir)
    monitor = None
    if not logdir.endswith("FULL_TENSOR"):
        monitor = debug_events_monitors.InfNanMonitor(reader)
    reader.update()
    graphs, ops = [], []
    pending = [g.graph_id for g in reader.outermost_graphs()]
    while pending:
        graph = reader.graph_by_id(pending.pop(0))
        pending += graph.inner_graph_ids
        graphs.append({"graph_id": graph.graph_id, "graph_name": graph.name or None, "outer_graph_id": graph.outer_graph_id or None,
                       "inner_graph_ids": list(graph.inner_graph_ids)})
        ops += [op(graph, o, reader) for o in graph._op_by_name.values()]
    frames = [{"id": i, "host_name": f[0], "file_path": f[1], "line": f[2], "function": f[3] or None}
              for i, f in reader._stack_frame_by_id.items()]
    return {
        "runs": [{"run_id": reader.tfdbg_run_id(), "tensorflow_version": reader.tensorflow_version(),
                  "starting_wall_time": reader.starting_wall_time()}],
        "executions": [execution(e) for e in reader.executions()],
        "traces": [trace(reader.read_graph_execution_trace(d)) for d in reader.graph_execution_traces(digest=True)],
        "graphs": graphs, "ops": ops, "stack_frames": frames,
        "source_files": [{"host_name": h, "file_path": p, "num_lines": len(reader.source_lines(h, p))}
                         for h, p in reader.source_file_list()],
        "devices": [{"device_id": i, "device_name": n} for i, n in reader.device_name_map().items()],
        "alerts": None if monitor is None else [alert(a) for a in monitor.alerts()],
    }


if __name__ == "__main__":
    with open(sys.argv[1], "w") as out:
        json.dump({d: answers(d) for d in sys.argv[2:]}, out, sort_keys=True)
