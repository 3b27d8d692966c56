"""Small PyTorch programs with a known culprit, recorded by the adapter: `programs.py ADAPTER OUT_DIR [NAME...]`.

Each program runs in a forked process, and gets a logdir of its own, OUT_DIR/NAME. EXPECTED says, per program, which op `nanlens
why` must name (None: nothing is wrong), whether it may say that the value came in bad there, and the line: the one that is marked
"# culprit".
"""
import ctypes
import inspect
import os
import sys
import threading
import traceback

EXPECTED = {}
PROGRAMS = {}


def culprit_line(function):
    lines, first = inspect.getsourcelines(function)
    found = [first + i for i, line in enumerate(lines) if "# culprit" in line]
    return found[0] if found else None


def program(op, arrives=False):
    """Registers a program with the op that made the first NaN or infinity; `arrives`: that it came in by, as data or a mask."""
    def register(function):
        PROGRAMS[function.__name__] = function
        EXPECTED[function.__name__] = {"op": op, "arrives": arrives, "line": culprit_line(function)}
        return function
    return register


# --- forward


@program("aten::log")
def log_of_zero(torch):
    x = torch.relu(torch.tensor([1.0, -2.0, 3.0]))
    y = torch.log(x)  # culprit
    (y * 2).mean()


@program("aten::log")
def log_of_softmax(torch):
    probs = torch.softmax(torch.tensor([[0.0, 200.0], [1.0, 2.0]]), dim=1)
    loss = -(torch.log(probs) * torch.eye(2)).sum()  # culprit
    loss + 1


@program("aten::div")
def division_by_zero(torch):
    x, y = torch.randn(4), torch.tensor([1.0, 0.0, 2.0, 3.0])
    z = x / y  # culprit
    z.sum()


@program("aten::div")
def normalised_zero(torch):
    x = torch.zeros(3)
    unit = x / x.norm()  # culprit
    unit + 1


@program("aten::exp")
def exp_overflow(torch):
    x = torch.tensor([1.0, 100.0])
    torch.log1p(torch.exp(x)).sum()  # culprit


@program("aten::pow")
def root_of_negative(torch):
    x = torch.tensor([-1.0, 2.0])
    (x ** 0.5).sum()  # culprit


@program("aten::acos")
def angle_beyond_domain(torch):
    a = torch.tensor([1.0, 1.0001])
    torch.acos(a).mean()  # culprit


@program("aten::std")
def deviation_of_one_sample(torch):
    x = torch.tensor([[3.0]])
    x / x.std(dim=0)  # culprit


@program("aten::div_")  # which is the last step of the mean
def mean_of_nothing(torch):
    x = torch.arange(4.0)
    kept = x[x > 10]
    kept.mean() * 2  # culprit


@program("aten::mm")
def exploding_rnn(torch):
    torch.manual_seed(0)
    w, h = torch.full((8, 8), 20.0), torch.ones(2, 8)
    for _ in range(40):
        h = h @ w  # culprit
    torch.tanh(h - h.sum())


@program("aten::_to_copy")
def half_overflow(torch):
    x = torch.tensor([1.0, 70000.0])
    y = x.half()  # culprit
    y.float() + 1


@program("aten::mul")
def loss_scale_too_large(torch):
    loss = torch.tensor([3.0, 0.5], dtype=torch.float16)
    scaled = loss * 65500.0  # culprit
    scaled.float() / 65500.0


@program("aten::native_batch_norm")
def batch_norm_of_one_sample(torch):
    mean, variance = torch.zeros(2), torch.ones(2)
    torch.batch_norm(torch.ones(1, 2), None, None, mean, variance, True, 0.1, 1e-5, False)  # culprit
    torch.nn.functional.batch_norm(torch.ones(4, 2), mean, variance)


@program("aten::_softmax", arrives=True)
def every_entry_masked(torch):
    scores, mask = torch.zeros(2, 3), torch.tensor([[True, True, True], [False, True, False]])
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=1)  # culprit
    weights @ torch.ones(3, 2)


# --- in place, views, modes, threads


@program("aten::div_")
def in_place_division(torch):
    x, count = torch.ones(2, 3), torch.tensor([[2.0], [0.0]])
    x.div_(count)  # culprit
    x.sum()


@program("aten::log_")
def in_place_through_a_view(torch):
    x = torch.arange(6.0).reshape(2, 3)
    x.t()[0].log_()  # culprit
    x.sum() * 2


@program("aten::reciprocal")
def strided_input(torch):
    x = torch.arange(12.0).reshape(3, 4)[:, ::2]
    torch.reciprocal(x).sum()  # culprit


@program("aten::log1p")
def inference_mode(torch):
    with torch.inference_mode():
        x = torch.tensor([0.5, -1.0])
        torch.log1p(x).exp()  # culprit


@program("aten::rsqrt")
def other_thread(torch):
    def work():
        x = torch.zeros(3)
        torch.rsqrt(x) * 2  # culprit
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@program("aten::div")
def dataset_divides(torch):
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            x = torch.full((3,), float(i))
            return (x - x.mean()) / x.sub(x.mean()).abs().max()  # culprit
    for batch in torch.utils.data.DataLoader(Data(), batch_size=2):
        batch.sum()


# --- what comes in bad


@program("aten::mul", arrives=True)
def nan_in_the_data(torch):
    x = torch.tensor([1.0, float("nan")])
    y = x * 2  # culprit
    y.sum()


@program("aten::add", arrives=True)
def nan_from_numpy(torch):
    import numpy as np
    x = torch.from_numpy(np.array([1, np.inf], np.float32))
    y = x + 1  # culprit
    y.sum()


# --- backward


@program("aten::div")
def root_at_zero(torch):
    x = torch.zeros(3, requires_grad=True)
    distance = torch.sqrt((x * x).sum())  # culprit
    distance.backward()


@program("aten::div")
def custom_function(torch):
    class Inverse(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return grad / x  # culprit
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    Inverse.apply(x).sum().backward()


@program("aten::pow")
def gradient_of_select(torch):
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    root = x.clamp(min=0).pow(0.5)  # culprit
    torch.where(x > 0, root, torch.zeros(2)).sum().backward()


# --- training


def small_net(torch):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


@program("aten::log")
def training(torch):
    net = small_net(torch)
    optimizer = torch.optim.SGD(net.parameters(), lr=100.0)
    x, labels = torch.randn(16, 4), torch.eye(2)[torch.arange(16) % 2]
    for _ in range(10):
        optimizer.zero_grad()
        loss = -(labels * torch.log(torch.softmax(net(x), dim=1))).sum()  # culprit
        loss.backward()
        optimizer.step()


@program("aten::addcdiv_")
def adam_without_epsilon(torch):
    x = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.Adam([x], eps=0.0)
    (x * torch.tensor([1.0, 0.0, 2.0])).sum().backward()
    optimizer.step()  # culprit
    x.sum()


@program("aten::add_")
def rate_too_high(torch):
    x = torch.full((3,), 1e10, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1e30)
    (x * x).sum().backward()
    optimizer.step()  # culprit
    x.sum()


# --- nothing wrong


@program(None)
def harmless_mask(torch):
    scores = torch.zeros(2, 3).masked_fill(torch.tensor([[True, False, False]]), float("-inf"))
    torch.softmax(scores, dim=1) @ torch.ones(3, 2)


@program(None)
def clean_training(torch):
    net = small_net(torch)
    optimizer = torch.optim.Adam(net.parameters())
    x, labels = torch.randn(16, 4), torch.arange(16) % 2
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()


@program(None)
def odd_tensors(torch):
    """Kinds that are passed over: nothing crashes, and nothing that can't be read is called bad."""
    sparse = torch.eye(3).to_sparse()
    torch.sparse.mm(sparse, torch.ones(3, 2)).sum()
    torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).dequantize()
    torch.ones(3, device="meta") * 2
    torch.view_as_complex(torch.ones(3, 2)).conj() * 2
    torch.empty(0, 3).sum()
    torch.ones(2, 3).expand(4, 2, 3).sum()
    torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def main():
    adapter, out = sys.argv[1:3]
    import torch
    torch.set_num_threads(1)
    ctypes.CDLL(adapter)
    failed = False
    for name in sys.argv[3:] or PROGRAMS:
        child = os.fork()
        if child == 0:
            os.environ["NANLENS_LOGDIR"] = os.path.join(out, name)
            PROGRAMS[name](torch)
            return 0
        _, status = os.waitpid(child, 0)
        failed = failed or status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:  # noqa: BLE001 - a forked program's: with its name in the trace
        traceback.print_exc()
        sys.exit(1)
