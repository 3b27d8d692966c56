"""Starts the real TensorBoard on a logdir and waits until its Debugger V2 plugin has counted everything:
`tensorboard.py TENSORBOARD LOGDIR NUM_TRACES NUM_EXECUTIONS`. Prints a JSON line: seconds from the start of the process,
seconds until it answered at all, and the most memory it held."""
import json
import socket
import subprocess
import sys
import time
import urllib.request

PLUGIN = "/data/plugin/debugger-v2"
RUN = "__default_debugger_run__"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    tensorboard, logdir = sys.argv[1:3]
    wanted = {"graph_execution/digests": int(sys.argv[3]), "execution/digests": int(sys.argv[4])}
    port = free_port()
    begin = time.perf_counter()
    server = subprocess.Popen([tensorboard, "--logdir", logdir, "--port", str(port), "--host", "127.0.0.1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(route, **params):
        query = "&".join(f"{k}={v}" for k, v in {"run": RUN, **params}.items())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{PLUGIN}/{route}?{query}", timeout=300) as r:
            return json.load(r)

    answered = 0.0
    try:
        while time.perf_counter() - begin < 400:
            time.sleep(0.1)
            try:
                known = RUN in get("runs")
                answered = answered or time.perf_counter() - begin
                if known and all(get(route, begin=0, end=0)["num_digests"] == n for route, n in wanted.items()):
                    break
            except OSError:
                if server.poll() is not None:
                    sys.exit("TensorBoard ended by itself")
        else:
            sys.exit("TensorBoard's counts were not final within 400 s")
        seconds = time.perf_counter() - begin
        with open(f"/proc/{server.pid}/status") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        print(json.dumps({"seconds": seconds, "answered": answered, "peak_mb": peak / 1e3}))
    finally:
        server.kill()
        server.wait()


main()
