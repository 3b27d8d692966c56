"""Starts the real TensorBoard on a logdir and waits until its Debugger V2 plugin has counted everything:
`tensorboard.py TENSORBOARD LOGDIR NUM_TRACES NUM_EXECUTIONS`. Prints a JSON line: seconds from the start of the process,
seconds until it answered at all, and the most memory it held."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensorboard_server import Server  # noqa: E402


def main():
    tensorboard, logdir = sys.argv[1:3]
    wanted = {"graph_execution/digests": int(sys.argv[3]), "execution/digests": int(sys.argv[4])}
    begin = time.perf_counter()
    answered = 0.0
    with Server(tensorboard, logdir) as server:
        while time.perf_counter() - begin < 400:
            time.sleep(0.1)
            try:
                final = server.shows(wanted)
                answered = answered or time.perf_counter() - begin
                if final:
                    break
            except OSError:
                if server.process.poll() is not None:
                    sys.exit("TensorBoard ended by itself")
        else:
            sys.exit("TensorBoard's counts were not final within 400 s")
        seconds = time.perf_counter() - begin
        with open(f"/proc/{server.process.pid}/status") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        print(json.dumps({"seconds": seconds, "answered": answered, "peak_mb": peak / 1e3}))


main()
