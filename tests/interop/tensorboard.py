"""Starts the real TensorBoard on a logdir and checks every route of its Debugger V2 plugin against `nanlens dump`.

`tensorboard.py TENSORBOARD NANLENS LOGDIR [NUM_ALERTS]`
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensorboard_server import Server  # noqa: E402


def main():
    tensorboard, nanlens, logdir = sys.argv[1:4]

    def dump(kind, *more):
        out = subprocess.run([nanlens, "dump", logdir, "--what", kind, *more], check=True, stdout=subprocess.PIPE).stdout
        return [json.loads(line) for line in out.splitlines()]

    with Server(tensorboard, logdir) as server:
        get = server.get
        traces, executions, alerts = dump("traces"), dump("executions"), dump("alerts")
        wanted = {"graph_execution/digests": len(traces), "execution/digests": len(executions)}
        for _ in range(240):
            time.sleep(0.5)
            try:
                if server.shows(wanted):
                    break
            except OSError:
                continue
        else:
            sys.exit("TensorBoard's counts were not final within 120 s")
        shown = get("alerts")
        assert shown["num_alerts"] == len(alerts), (shown["num_alerts"], len(alerts))
        assert shown["alerts_breakdown"] == {"InfNanAlert": len(alerts)}
        assert len(shown["alerts"]) == len(alerts)
        if len(sys.argv) > 4:
            assert len(alerts) == int(sys.argv[4])
        digests = get("execution/digests", begin=0, end=-1)["execution_digests"]
        assert [d["op_type"] for d in digests] == [e["op_type"] for e in executions]
        data = get("execution/data", begin=0, end=-1)["executions"]
        assert [d["stack_frame_ids"] for d in data] == [e["stack_frame_ids"] for e in executions]
        rows = get("graph_execution/data", begin=0, end=-1)["graph_executions"]
        assert [(r["op_name"], r["debug_tensor_value"]) for r in rows] == [(t["op_name"], t["debug_tensor_value"]) for t in traces]
        row_digests = get("graph_execution/digests", begin=0, end=-1)["graph_execution_digests"]
        assert [r["graph_id"] for r in row_digests] == [t["graph_id"] for t in traces]
        for op in dump("ops"):
            info = get("graphs/op_info", graph_id=op["graph_id"], op_name=op["op_name"])
            assert info["op_type"] == op["op_type"] and info["graph_ids"] == op["graph_ids"]
            assert [[(c["op_name"], c["input_slot"]) for c in s] for s in info["consumers"]] == [
                [(c["op_name"], c["input_slot"]) for c in s] for s in op["consumers"]]
        for graph in dump("graphs"):
            assert get("graphs/graph_info", graph_id=graph["graph_id"])["inner_graph_ids"] == graph["inner_graph_ids"]
        files = dump("source_files", "--lines")
        assert get("source_files/list") == [[f["host_name"], f["file_path"]] for f in files]
        for f in files:
            assert get("source_files/file", index=f["index"])["lines"] == f["lines"]
        frames = dump("stack_frames")
        shown_frames = get("stack_frames/stack_frames", stack_frame_ids=",".join(f["id"] for f in frames))["stack_frames"]
        assert shown_frames == [[f["host_name"], f["file_path"], f["line"], f["function"]] for f in frames]
        print(f"TensorBoard shows {len(alerts)} alerts, {len(traces)} graph executions, {len(executions)} executions: equal")


if __name__ == "__main__":
    main()
