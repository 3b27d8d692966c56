"""TensorBoard with its Debugger V2 plugin, as a process of its own."""
import json
import socket
import subprocess
import urllib.request

RUN = "__default_debugger_run__"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """Serves `logdir` while the `with` block runs. Asked before it listens, `get` raises OSError."""

    def __init__(self, executable, logdir):
        self.port = free_port()
        self.process = subprocess.Popen(
            [executable, "--logdir", logdir, "--port", str(self.port), "--host", "127.0.0.1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def get(self, route, timeout=30, **params):
        query = "&".join(f"{k}={v}" for k, v in {"run": RUN, **params}.items())
        url = f"http://127.0.0.1:{self.port}/data/plugin/debugger-v2/{route}?{query}"
        with urllib.request.urlopen(url, timeout=timeout) as r:
            assert r.status == 200
            return json.load(r)

    def shows(self, counts):
        """Does it know the run, with this many digests by each route of `counts`?"""
        return RUN in self.get("runs", timeout=300) and all(
            self.get(route, timeout=300, begin=0, end=0)["num_digests"] == n for route, n in counts.items())
