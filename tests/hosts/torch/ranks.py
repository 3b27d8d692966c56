"""PyTorch programs of several ranks that exchange tensors by gloo, with a known culprit: `ranks.py ADAPTER OUT_DIR [NAME...]`.

Each rank runs in a forked process, with the environment that torchrun gives it; all ranks of a program have one logdir, OUT_DIR/NAME.
EXPECTED says, per program, what `nanlens why` must answer; the line is the one marked "# culprit". `ranks.py --names` prints those
that this PyTorch can run, which are all that run where none is named.
"""
import ctypes
import datetime
import inspect
import os
import re
import sys
import threading
import traceback

EXPECTED = {}
PROGRAMS = {}


def program(op, ranks=3, rank=None, reached=None, causes=1, says=(), never=(), since=(1, 13), body=None):
    """Registers a program with the op and the rank that made the first NaN or infinity, and how many other ranks it came to. `says`:
    words that the answer must have; `never`: those that it must not have. `causes`: how many there are. `since`: PyTorch's version.
    `body`: where the culprit is, if not in the function itself."""
    def register(function):
        lines, first = inspect.getsourcelines(body or function)
        line = next((first + i for i, text in enumerate(lines) if "# culprit" in text), None)
        PROGRAMS[function.__name__] = (function, ranks, since)
        EXPECTED[function.__name__] = {"op": op, "rank": rank, "reached": reached, "causes": causes, "line": line, "says": says,
                                       "never": never}
        return function
    return register


@program("aten::log", rank=2, reached=2)
def all_reduce(torch, group, rank):
    group.all_reduce(torch.ones(4))
    x = torch.log(torch.full((4,), 0.0 if rank == 2 else 1.0))  # culprit
    group.all_reduce(x)
    x * 2


@program("aten::log", rank=1, reached=2)
def asynchronous(torch, group, rank):
    first, x = torch.ones(4), torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))  # culprit
    works = [group.all_reduce(first, async_op=True), group.all_reduce(x, async_op=True)]
    for work in reversed(works):
        work.wait()
    first + 1, x + 1


@program("aten::log", rank=1, reached=2)
def broadcast(torch, group, rank):
    x = torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))  # culprit
    group.broadcast(x, 1)
    x.sum()


@program("aten::log", rank=2, reached=1)
def reduce(torch, group, rank):
    x = torch.log(torch.full((4,), 0.0 if rank == 2 else 1.0))  # culprit
    group.reduce(x, 0)
    if rank == 0:
        x.sum()


@program("aten::log", rank=0, reached=2)
def all_gather(torch, group, rank):
    x = torch.log(torch.full((4,), 0.0 if rank == 0 else 1.0))  # culprit
    parts = [torch.empty(4) for _ in range(3)]
    group.all_gather(parts, x)
    torch.stack(parts).sum()


@program("aten::log", rank=1, reached=2)
def scattered_and_gathered(torch, group, rank):
    """Only rank 2 is given the bad part, and only rank 0 gathers it."""
    part = torch.empty(4)
    parts = [torch.log(torch.full((4,), 0.0 if rank == 1 and to == 2 else 1.0)) for to in range(3)]  # culprit
    group.scatter(part, parts if rank == 1 else None, 1)
    group.gather(part * 2, [torch.empty(4) for _ in range(3)] if rank == 0 else None, 0)


@program("aten::log", rank=1, reached=2)
def messages(torch, group, rank):
    """From rank 1 to rank 2, and on to rank 0; others of the same pair and tag come before, and are waited for in another order."""
    x = torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))  # culprit
    if rank == 1:
        group.send(torch.ones(4), 2)
        group.send(x, 2)
    elif rank == 2:
        first, second = torch.empty(4), torch.empty(4)
        works = [group.irecv(first, 1), group.irecv(second, 1)]
        works[1].wait()
        works[0].wait()
        group.send(second + 1, 0, tag=7)
        first + 1
    else:
        group.recv(x, 2, tag=7)
        x.sum()


@program("aten::log", ranks=2, rank=0, reached=1)
def sent_meanwhile(torch, group, rank):
    """What a rank computes and sends while other messages of its own are under way."""
    if rank == 0:
        works = [group.isend(torch.ones(4), 1), group.isend(torch.ones(4), 1)]
        x = torch.log(torch.zeros(4))  # culprit
        for work in works:
            work.wait()
        group.send(x, 1)
    else:
        received = [torch.empty(4) for _ in range(3)]
        for y in received:
            group.recv(y, 0)
        received[0] + 1, received[1] + 1, received[2] + 1


@program("aten::log", ranks=2, rank=1, never=["other rank"])
def not_received(torch, group, rank):
    """Into one tensor a receive is begun that nobody waits for, and one that is waited for in vain: it is still what it was."""
    pair = group.new_group([0, 1])
    x = torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))  # culprit
    if rank == 1:
        group.irecv(x, 0, tag=3)
        try:
            group.irecv(x, 0, group=pair).wait(datetime.timedelta(milliseconds=50))
        except RuntimeError:
            x + 1


@program("aten::log", ranks=4, rank=3, reached=1)
def one_half_of_them(torch, group, rank):
    """Ranks 2 and 3 are a group; those of the other one exchange at the same time."""
    halves = [group.new_group([0, 1]), group.new_group([2, 3])]
    x = torch.log(torch.full((4,), 0.0 if rank == 3 else 1.0))  # culprit
    group.all_reduce(x, group=halves[rank // 2])
    group.barrier()
    x + 1


@program("aten::log", rank=2, reached=2, says=["into net.module.0.weight"])
def gradients(torch, group, rank):
    """A NaN of one rank's data that all ranks' parameters get, by the gradients that DistributedDataParallel sums up."""
    torch.manual_seed(0)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        y = net(torch.ones(3, 4)).sigmoid()
        target = torch.full((3, 1), 0.0 if rank == 2 and step == 1 else 1.0)
        loss = (y * torch.log(target)).mean()  # culprit
        loss.backward()
        optimizer.step()


@program("aten::log", rank=1, reached=2, never=["not on record"], since=(2, 5))
def reduce_scatter(torch, group, rank):
    """gloo copies what has come into place while the program waits for it; the second result is of another exchange."""
    x = torch.log(torch.full((6,), 0.0 if rank == 1 else 1.0))  # culprit
    parts = torch.zeros(4).split(2)
    works = [group.reduce_scatter_tensor(part, sent, async_op=True) for part, sent in zip(parts, (x, torch.ones(6)))]
    for work in reversed(works):
        work.wait()
    parts[0] + 1, parts[1] + 1


@program("aten::log", rank=1, reached=2, never=["not on record"], since=(2, 5))
def functional(torch, group, rank):
    """Ops that return before what they return is there, as tensors of other devices are wrapped."""
    import torch.distributed._functional_collectives as functional
    x = torch.log(torch.full((6,), 0.0 if rank == 1 else 1.0))  # culprit
    summed = functional.all_reduce(x, "sum", group.group.WORLD) + 1
    part = functional.reduce_scatter_tensor(summed, "sum", 0, group.group.WORLD) * 2
    functional.all_gather_tensor(part, 0, group.group.WORLD) + 1


def sharded_training(torch, group, rank, **policy):
    """Each rank has a part of the parameters, and gets the gradients of that part alone. What does not fit is padded: 8 rows."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    torch.manual_seed(0)
    net = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.ReLU()) for _ in range(2)))
    mesh = torch.distributed.init_device_mesh("cpu", (3,))
    for part in [*net, net]:
        fully_shard(part, mesh=mesh, mp_policy=MixedPrecisionPolicy(**policy))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        y = net(torch.ones(3, 8)).float().sigmoid()
        target = torch.full((3, 8), 0.0 if rank == 1 and step == 1 else 1.0)
        loss = (y * torch.log(target)).mean()  # culprit
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()


@program("aten::log", rank=1, reached=2, never=["not on record"], since=(2, 6), body=sharded_training)
def sharded(torch, group, rank):
    sharded_training(torch, group, rank)


@program("aten::log", rank=1, reached=2, never=["not on record"], since=(2, 6), body=sharded_training)
def sharded_in_bfloat16(torch, group, rank):
    sharded_training(torch, group, rank, param_dtype=torch.bfloat16, reduce_dtype=torch.float32)


@program("aten::log", ranks=2, rank=1, causes=2, never=["other rank"])
def from_anyone(torch, group, rank):
    """What is received from anyone may be any rank's, and what comes after it the first or the second message of its sender."""
    x = torch.log(torch.full((4,), 0.0 if rank == 1 else 1.0))  # culprit
    if rank == 1:
        group.send(x, 0)
        group.send(x - x, 0)
    else:
        first, second = torch.empty(4), torch.empty(4)
        group.recv(first)
        group.recv(second, 1)
        second * 2


@program("aten::log", ranks=2, rank=0, causes=2, never=["other rank"])
def several_senders(torch, group, rank):
    """Which of two threads' messages comes first is nobody's to say."""
    x = torch.log(torch.full((4,), float(rank)))  # culprit
    for tensor in [torch.ones(4), x]:
        if rank == 0:
            thread = threading.Thread(target=group.send, args=(tensor, 1))
            thread.start()
            thread.join()
        else:
            y = torch.empty(4)
            group.recv(y, 0)
            y * 2


@program("c10d::allreduce_")
def sum_overflows(torch, group, rank):
    x = torch.full((4,), 2e38)
    group.all_reduce(x)  # culprit
    x + 1


@program(None)
def clean(torch, group, rank):
    x = torch.ones(4)
    group.all_reduce(x)
    group.barrier()
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
    net(x).sum().backward()


def right(expected, found):
    """Is an answer of `nanlens why --json` the one that is expected?"""
    head = found["headline"]
    if head is None or expected["op"] is None:
        return head is None and expected["op"] is None
    text = f"{head['sentence']} {head['consequence']}"
    return bool(head["op_type"] == expected["op"] and head["line"] == expected["line"] and head["class"] == "made" and
                len(found["causes"]) == expected["causes"] and
                (expected["rank"] is None or f" in rank {expected['rank']} (host " in text) and
                (expected["reached"] is None or re.search(rf" (spread it|came) to {expected['reached']} other rank", text)) and
                all(words in text for words in expected["says"]) and not any(words in text for words in expected["never"]))


def run(name, rank, ranks, out):
    import torch
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(ranks),
                      NANLENS_LOGDIR=os.path.join(out, name))
    store = torch.distributed.FileStore(os.path.join(out, name + ".store"), ranks)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    PROGRAMS[name][0](torch, torch.distributed, rank)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()  # its thread may free a tensor of Python's while the interpreter ends, and dies of that


def main():
    import torch
    import torch.distributed
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    names = [name for name, (_, _, since) in PROGRAMS.items() if version >= since]
    if sys.argv[1] == "--names":
        print(*names)
        return 0
    torch.set_num_threads(1)
    adapter, out = sys.argv[1:3]
    ctypes.CDLL(adapter)
    failed = False
    for name in sys.argv[3:] or names:
        ranks = PROGRAMS[name][1]
        children = []
        for rank in range(ranks):
            child = os.fork()
            if child == 0:
                torch.set_num_threads(1)  # PyTorch makes its pool anew, without a lock: before threads ask for it at once
                run(name, rank, ranks, out)
                return 0
            children.append(child)
        failed = any([os.waitpid(child, 0)[1] != 0 for child in children]) or failed
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:  # noqa: BLE001 - a forked program's: with its name in the trace
        traceback.print_exc()
        sys.exit(1)
