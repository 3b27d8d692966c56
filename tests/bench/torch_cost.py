"""What recording a PyTorch training step costs, beside what PyTorch has itself: `torch_cost.py NANLENS [ROUNDS]`.

CPU time of all threads, the writer's included, per step; each way of running in a process of its own, one after the other, the least
of all rounds. `dispatch` is a TorchDispatchMode in Python that calls isfinite on every result.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"
MAPPED = "import torch; print(*{line.split()[-1] for line in open('/proc/self/maps') if 'libtorch_cpu.so' in line})"
WAYS = ("plain", "nanlens", "anomaly", "dispatch")


def mlp(torch):
    net = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(1024, 1024), torch.nn.ReLU())])
    return net, torch.randn(128, 1024)


def cnn(torch):
    conv = torch.nn.Conv2d
    net = torch.nn.Sequential(conv(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), conv(32, 64, 3, stride=2),
                              torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    return net, torch.randn(16, 3, 32, 32)


def transformer(torch):
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2), torch.randn(8, 64, 256)


def tiny(torch):
    net = torch.nn.Sequential(*[layer for _ in range(5) for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU())])
    return net, torch.randn(8, 16)


WORKLOADS = {f.__name__: f for f in (mlp, cnn, transformer, tiny)}


def finite_mode(torch):
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    class Finite(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            tree_map(lambda x: torch.isfinite(x).all() if isinstance(x, torch.Tensor) and x.is_floating_point() else x, result)
            return result
    return Finite()


def measure(workload):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    way = os.environ["WAY"]
    if way == "nanlens":
        import ctypes
        ctypes.CDLL(os.environ["ADAPTER"])
    net, x = WORKLOADS[workload](torch)
    optimizer = torch.optim.Adam(net.parameters())

    def step():
        optimizer.zero_grad()
        (net(x) ** 2).mean().backward()
        optimizer.step()
    context = {"anomaly": torch.autograd.detect_anomaly, "dispatch": lambda: finite_mode(torch)}.get(way)
    if context:
        context().__enter__()
    step()
    least, steps = 1e9, 0
    begin = time.process_time()
    while steps < 5 or time.process_time() - begin < 1:
        before = time.process_time()
        for _ in range(3):
            step()
        least = min(least, (time.process_time() - before) / 3)
        steps += 3
    print(json.dumps(least))


def run(nanlens_adapter, workload, way):
    with tempfile.TemporaryDirectory() as logdir:
        environment = dict(os.environ, WAY=way, ADAPTER=nanlens_adapter, PYTHONWARNINGS="ignore")
        if way == "nanlens":
            environment["NANLENS_LOGDIR"] = logdir
        return json.loads(subprocess.run([PYTHON, __file__, "--measure", workload], stdout=subprocess.PIPE, check=True,
                                         env=environment).stdout)


def main():
    if sys.argv[1] == "--measure":
        return measure(sys.argv[2])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    library = subprocess.run([PYTHON, "-c", MAPPED], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    adapter = subprocess.run([sys.argv[1], "adapter", "torch", library], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    print(f"{'':14}" + "".join(f"{way:>22}" for way in WAYS))
    for workload in WORKLOADS:
        least = {}
        for _ in range(rounds):
            for way in WAYS:
                least[way] = min(least.get(way, 1e9), run(adapter, workload, way))
        cells = "".join(f"{1e3 * least[way]:12.2f} ms {least[way] / least['plain']:5.2f}x" for way in WAYS)
        print(f"{workload:14}{cells}", flush=True)


main()
