"""Small PyTorch programs with a known culprit, recorded by the adapter: `programs.py ADAPTER OUT_DIR [NAME...]`; or one alone, to
be recorded by `nanlens run`: `programs.py --here NAME`.

Each program runs in a forked process, and gets a logdir of its own, OUT_DIR/NAME. EXPECTED says, per program, which op `nanlens
why` must name (None: nothing is wrong), whether it may say that the value came in bad there, and the line: the one that is marked
"# culprit".
"""
import ctypes
import inspect
import os
import subprocess
import sys
import threading
import traceback

EXPECTED = {}
PROGRAMS = {}


def line_of(function, mark):
    lines, first = inspect.getsourcelines(function)
    found = [first + i for i, line in enumerate(lines) if "# " + mark in line]
    return found[0] if found else None


def program(op, arrives=False, name=None, says=()):
    """Registers a program with the op that made the first NaN or infinity; `arrives`: that it came in by, as data or a mask.
    `name`: the op's own, if it matters; `says`: words that the answer must have, in which {line of X} is the line marked "# X"."""
    def register(function):
        lines = {mark: line_of(function, mark) for mark in ("culprit", "step")}
        words = [text.replace("{line of step}", str(lines["step"])) for text in says]
        PROGRAMS[function.__name__] = function
        EXPECTED[function.__name__] = {"op": op, "arrives": arrives, "line": lines["culprit"], "name": name, "says": words}
        return function
    return register


# --- what programs share


def small_net(torch):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def numpy_with_gap():
    import numpy
    data = numpy.ones((20, 4), "float32")
    data[3, 1] = numpy.nan
    return data


def extension(torch):
    """An op in C++ that works on raw memory, compiled against this PyTorch."""
    library = os.environ["NANLENS_LOGDIR"] + ".so"
    own = os.path.join(os.path.dirname(torch.__file__), "include")
    include = own if os.path.exists(own) else "/usr/include"
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split()[-1] for line in maps if "/libtorch_cpu.so" in line or "/libc10.so" in line}
    subprocess.run(["g++", "-std=c++20", "-O0", "-w", "-shared", "-fPIC", "-DNDEBUG", "-I" + include,
                    f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), "extension.cpp"), "-o", library,
                    "-Wl,--no-as-needed,--allow-shlib-undefined", *mapped], check=True)
    return library


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


@program("aten::mean", says=["aten::mean over no elements at programs.py:", "(input 0 is empty)"])
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


@program("aten::mse_loss", says=["aten::mse_loss over no elements at programs.py:", "(input 0 is empty)"])
def nothing_selected(torch):
    """Experts of which one gets no samples, and a loss of each."""
    torch.manual_seed(0)
    experts = [torch.nn.Linear(4, 4) for _ in range(2)]
    x = torch.rand(6, 4)
    parts = []
    for expert, chosen in zip(experts, (x[:, 0] < 2, x[:, 0] > 2)):
        parts.append(torch.nn.functional.mse_loss(expert(x[chosen]), x[chosen]))  # culprit
    torch.stack(parts).sum().backward()


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


@program("aten::sub", arrives=True, says=["Every entry of a row was masked"])
def no_action_left(torch):
    scores = torch.randn(3, 4, requires_grad=True)
    mask = torch.tensor([[False, False, False, True], [True] * 4, [False, True, True, True]])
    policy = torch.distributions.Categorical(logits=scores.masked_fill(mask, float("-inf")), validate_args=False)  # culprit
    policy.log_prob(torch.zeros(3, dtype=torch.long)).mean().backward()


@program("aten::masked_fill_", arrives=True, says=["filled in −∞"])
def differs_from_infinity(torch):
    """No row is masked whole: the difference of two masks."""
    mask = torch.tensor([[False, False, True], [False, True, False]])
    a = torch.randn(2, 3).masked_fill(mask, float("-inf"))  # culprit
    a - a[:1].clone()


@program("aten::_ctc_loss", says=["is +∞ in 1 of 3 elements: most likely the target is longer than its input allows"])
def target_too_long(torch):
    scores = torch.randn(10, 3, 5, requires_grad=True)
    targets, lengths, times = torch.ones(3, 4, dtype=torch.long), torch.tensor([4, 4, 4]), torch.tensor([10, 7, 6])
    torch.nn.functional.ctc_loss(scores.log_softmax(2), targets, times, lengths).backward()  # culprit


@program("aten::div_", says=["two eigenvalues or singular values are equal", "All "])
def equal_eigenvalues(torch):
    matrix = (torch.eye(3) * 2).requires_grad_()
    values, vectors = torch.linalg.eigh(matrix)  # culprit
    (values.sum() + vectors.sum()).backward()


@program("aten::div", says=["a singular value is 0"])
def singular_value_of_zero(torch):
    matrix = torch.ones(3, 2, requires_grad=True)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)  # culprit
    left[0].sum().backward()


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


@program("aten::div")
def several_threads(torch):
    """Each with a network of its own; one of them divides by 0."""
    def work(number):
        for _ in range(5):
            net(torch.ones(2, 4) * number)
        torch.ones(3) / torch.full((3,), float(number))  # culprit
    net = small_net(torch)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@program("aten::log", name="net.1")
def autocast(torch):
    class Logs(torch.nn.Module):
        def forward(self, x):
            return torch.log(x * 0)  # culprit
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), Logs())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(torch.ones(2, 4)).sum()


@program("aten::log", name="last")
def module_at_the_address_of_another(torch):
    class Module(torch.nn.Module):
        def forward(self, x):
            return torch.log(x)  # culprit
    for _ in range(20):
        first = Module()
        first(torch.ones(2))
        del first
    last = Module()
    last(torch.zeros(2)).sum()


@program("aten::div")
def embedding_of_padding(torch):
    """The row of the padding is 0: normalised, it is NaN. Nobody looks it up at first."""
    table = torch.nn.Embedding(5, 3, padding_idx=0)
    rows = table.weight / table.weight.norm(dim=1, keepdim=True)  # culprit
    torch.nn.functional.embedding(torch.tensor([1, 2]), rows).sum()
    torch.nn.functional.embedding(torch.tensor([0, 3]), rows).sum()


@program("nanlens_test::raw_root")
def extension_in_cpp(torch):
    torch.ops.load_library(extension(torch))
    x = torch.tensor([4.0, -1.0])
    y = torch.ops.nanlens_test.raw_root(x)  # culprit
    y.sum()


@program("aten::div")
def dataset_in_a_worker(torch):
    """A worker divides; its parent gets what came of it through shared memory."""
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.ones(3) / i  # culprit
    for batch in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=1, multiprocessing_context="fork"):
        batch.sum()


@program("aten::log")
def two_processes(torch):
    """Rank 1 makes an infinity, and the sum over both brings it to rank 0."""
    rank = 1 if os.fork() == 0 else 0
    store = torch.distributed.FileStore(os.environ["NANLENS_LOGDIR"] + ".store", 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
    loss = torch.log(torch.full((2,), 1.0 - rank))  # culprit
    torch.distributed.all_reduce(loss)
    (loss * 2).sum()
    torch.distributed.barrier()
    if rank == 1:
        sys.stdout.flush()
        os._exit(0)
    os.wait()


# --- TorchScript: a call is an Execution of a graph, whose ops are named by their modules and functions


@program("aten::log", name="net/rest/log")
def scripted(torch):
    class Rest(torch.nn.Module):
        def forward(self, x):
            return torch.log(x - x)  # culprit

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rest = Rest()

        def forward(self, x):
            if x.sum() > 0:
                x = self.rest(x)
            return x + 1
    net = torch.jit.script(Net())
    for _ in range(3):  # the third time, it is optimised
        net(torch.ones(2))


@program("aten::log", name="net/rest/log_2")
def scripted_loop(torch):
    """NaN in the third iteration."""
    class Rest(torch.nn.Module):
        def forward(self, x):
            return torch.log(x)  # culprit

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rest = Rest()

        def forward(self, x):
            for _ in range(4):
                x = self.rest(x)
            return x
    net = torch.jit.script(Net())
    for _ in range(3):
        net(torch.full((2,), 2.0)).sum()


@program("aten::log", name="net/log")
def traced(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(1, 2, 3)

        def forward(self, x):
            return torch.log(torch.relu(self.conv(x)).flatten(1)).sum()  # culprit
    net = Net()
    torch.nn.init.ones_(net.conv.weight)
    net = torch.jit.trace(net, torch.ones(1, 1, 4, 4))
    with torch.no_grad():
        net(torch.ones(1, 1, 4, 4))
        net(-torch.ones(1, 1, 4, 4)) * 2


@program("aten::div", name="mean/ratio/div")
def scripted_function_in_another(torch):
    @torch.jit.script
    def ratio(x, y):
        return x / y  # culprit

    @torch.jit.script
    def mean(x, mask):
        return ratio((x * mask).sum(), mask.sum())
    for _ in range(3):
        mean(torch.ones(3), torch.ones(3))
    mean(torch.ones(3), torch.zeros(3)) * 2


@program("aten::div", name="DifferentiableGraphBackward of net")
def scripted_gradient(torch):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.sqrt(x * x)
    net = torch.jit.script(Net())
    for value in (1.0, 1.0, 0.0):
        x = torch.full((3,), value, requires_grad=True)
        y = net(x)  # culprit
        y.sum().backward()


@program("aten::log")
def scripted_threads(torch):
    def work(number):
        for _ in range(5):
            net(torch.ones(3) * number)
        if number == 2:
            net(torch.zeros(3)).sum()

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(3, 3)

        def forward(self, x):
            return torch.log(x) + self.fc(x)  # culprit
    net = torch.jit.script(Net())
    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@program("aten::log", name="last/log")
def scripted_exception(torch):
    @torch.jit.script
    def first(x):
        y = x + 1
        assert bool(y.sum() > 100)
        return y

    @torch.jit.script
    def last(x):
        return torch.log(x)  # culprit
    for _ in range(2):
        try:
            first(torch.ones(2))
        except Exception:  # noqa: BLE001 - TorchScript's, of which versions have others
            pass
    last(torch.zeros(2)) + 1


@program("aten::sqrt", name="both/sqrt")
def scripted_tasks(torch):
    """A call waits for another one on a pool's thread, and ends there."""
    @torch.jit.script
    def slow(x):
        for _ in range(100):
            x = x * 1.5
        return x

    @torch.jit.script
    def both(x):
        task = torch.jit.fork(slow, x)
        return torch.sqrt(x - 2) + torch.jit.wait(task)  # culprit
    for _ in range(3):
        both(torch.ones(2)).sum()
    sys.stdout.flush()
    os._exit(0)  # the pool's thread may still let go of tensors, which crashes in an interpreter that ends


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


@program("aten::addmm", arrives=True, says=["The NaN was already in input 1", "All "])
def data_for_two_heads(torch):
    import numpy as np
    query, key = torch.nn.Linear(8, 4), torch.nn.Linear(8, 4)
    rows = np.random.default_rng(1).standard_normal((5, 8)).astype(np.float32)
    rows[3, 2] = np.nan
    x = torch.from_numpy(rows)
    for _ in range(2):
        q = query(x)  # culprit
        k = key(x)
        (q * k).sum().backward()


@program("aten::addmm", arrives=True, says=["The −∞ was already in "])
def bias_that_a_relu_hides(torch):
    layer = torch.nn.Linear(8, 4)
    layer.bias.detach().numpy()[1] = -float("inf")
    torch.nn.functional.relu(layer(torch.ones(3, 8))).sum()  # culprit


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


@program("aten::div", says=["input 0 has 1 zero, and input 1 has 1 zero."])
def results_of_ops_of_one_type(torch):
    to = torch.tensor([0, 1])
    total = torch.zeros(3).index_add(0, to, torch.ones(2) * 5)
    count = torch.zeros(3).index_add(0, to, torch.ones(2))
    total / count  # culprit


@program("aten::div", says=["All "])
def loss_of_bad_prediction(torch):
    """The loss sums up memory that no op has made."""
    prediction = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    prediction = prediction / prediction  # culprit
    torch.nn.functional.mse_loss(prediction, torch.ones(2, 2)) * 2


@program("aten::_ctc_loss", says=["All "])
def loss_without_alignment(torch):
    """The mean over the batch divides by lengths that no op has made."""
    scores = torch.randn(4, 2, 5, requires_grad=True)
    targets = torch.tensor([[1, 1, 1, 1], [1, 2, 3, 4]])  # the first needs blanks in between, and more time
    lengths = torch.tensor([4, 4])
    torch.nn.functional.ctc_loss(scores.log_softmax(2), targets, lengths, lengths).backward()  # culprit


@program("aten::log", says=["All "])
def gradient_of_slice(torch):
    """Ops of the backward pass that fill memory which other ops have made, by a copy or by no op at all."""
    table = torch.nn.Embedding(4, 3)
    part = table(torch.arange(4))[:, :-1]
    torch.log(part.clamp(max=0) * 0).sum().backward()  # culprit
    torch.optim.SGD(table.parameters(), 0.1).step()


# --- training


@program("aten::log", says=["aten::add_ at programs.py:{line of step} brought it into net."])
def training(torch):
    net = small_net(torch)
    optimizer = torch.optim.SGD(net.parameters(), lr=100.0)
    x, labels = torch.randn(16, 4), torch.eye(2)[torch.arange(16) % 2]
    for _ in range(10):
        optimizer.zero_grad()
        loss = -(labels * torch.log(torch.softmax(net(x), dim=1))).sum()  # culprit
        loss.backward()
        optimizer.step()  # step


@program("aten::std", says=["a single value has no deviation", "All "])
def deviation_of_one_sample(torch):
    net = small_net(torch)
    y = net(torch.randn(1, 4))
    ((y - y.mean(0)) / y.std(0)).pow(3).mean().backward()  # culprit


@program("aten::pow", says=["from the clean result of aten::mul: it overflowed"])
def power_of_large_values(torch):
    torch.pow(torch.tensor([-1.0, 2.0]) * 1e25, 2)  # culprit


@program("aten::addcdiv_", says=["0/0 at ", " has 1 zero, and ", " has 1 zero."])
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


@program("aten::mm", name="AddmmBackward0 of net.fc",
         says=["It is grad of net.fc.weight.", "aten::add_ at programs.py:{line of step} brought it into net.fc.weight."])
def gradient_overflows(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x)  # culprit
    net = Net()
    torch.nn.init.constant_(net.fc.weight, 1e-20)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    (net(torch.full((3, 2), 1e30)) * 1e10).sum().backward()
    optimizer.step()  # step
    net(torch.ones(3, 2)).sum()


@program("aten::sqrt", name="self.net", says=["1 negative value from self.net.variance"])
def negative_parameter(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("variance", torch.tensor([1.0, -1.0]))

        def forward(self, x):
            return x / torch.sqrt(self.variance)  # culprit

    class Trainer:
        def __init__(self):
            self.net = Net()

        def step(self):
            return self.net(torch.ones(2)).sum()
    Trainer().step()


@program("aten::log", name="self.logs")
def part_of_a_module_that_is_not_called(torch):
    class Logs(torch.nn.Module):
        def forward(self, x):
            return torch.log(x)  # culprit

    class Training(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.logs = Logs()

        def training_step(self, batch):
            return self.logs(batch).sum()
    Training().training_step(torch.zeros(2))


@program("aten::add_", says=["It is net.weight."])
def step_overflows(torch):
    net = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.constant_(net.weight, 1e10)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e30)
    net(torch.full((1, 2), 1e10)).sum().backward()
    optimizer.step()  # culprit
    net(torch.ones(1, 2)).sum()


@program("aten::log10", says=["All "])
def log_behind_fft(torch):
    w = torch.nn.Parameter(torch.ones(8))
    x = torch.ones(2, 8)
    x[1] = 0
    for _ in range(2):
        magnitude = torch.fft.rfft(x * w).abs()
        decibels = torch.log10(magnitude)  # culprit
        loss = torch.fft.irfft(torch.complex(decibels, torch.zeros_like(decibels))).pow(2).mean()
        loss.backward()
        torch.optim.SGD([w], lr=0.1).step()


@program("aten::log10", says=["All "])
def log10_and_its_gradient(torch):
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    torch.log10(x).sum().backward()  # culprit


@program("aten::log1p", says=["All "])
def log1p_and_its_gradient(torch):
    x = torch.tensor([-1.0, 1.0, 2.0], requires_grad=True)
    torch.log1p(x).sum().backward()  # culprit


@program("aten::div", says=["made NaN or ∞ from clean inputs"])
def complex_division(torch):
    z = torch.complex(torch.zeros(4), torch.zeros(4))
    z = z / z  # culprit
    z.abs().sum()


@program("aten::add_", arrives=True, says=["NaN was already in alpha", "net.weight"])
def learning_rate_is_nan(torch):
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=float("nan"))
    net(torch.ones(3, 4)).sum().backward()
    optimizer.step()  # culprit


@program("aten::add_", arrives=True, says=["−∞ was already in alpha"])
def learning_rate_is_infinite(torch):
    net = torch.nn.Linear(4, 2, bias=False)
    optimizer = torch.optim.SGD(net.parameters(), lr=float("inf"))
    net(torch.ones(3, 4)).sum().backward()
    optimizer.step()  # culprit


# --- nothing wrong


@program(None)
def infinite_bounds(torch):
    x = torch.ones(3)
    x.clamp(min=-float("inf"), max=float("inf")).sum()
    torch.linalg.vector_norm(x, ord=float("inf"))


@program("aten::nll_loss_forward", says=["is a mean over no targets: all are ignored", "only bad tensor"])
def every_target_ignored(torch):
    net = small_net(torch)
    labels = torch.full((4,), -100)
    torch.nn.functional.cross_entropy(net(torch.randn(4, 4)), labels).backward()  # culprit


@program("aten::nll_loss2d_forward", says=["their weights add up to 0", "All "])
def every_target_without_weight(torch):
    scores = torch.randn(2, 3, 4, 4, requires_grad=True)
    labels = torch.zeros(2, 4, 4, dtype=torch.long)
    weight = torch.tensor([0.0, 1.0, 1.0])
    torch.nn.functional.cross_entropy(scores, labels, weight).backward()  # culprit


@program(None)
def some_targets_ignored(torch):
    labels = torch.tensor([0, -100, 1, -100])
    torch.nn.functional.cross_entropy(torch.randn(4, 2), labels)


@program(None)
def healthy_alignment(torch):
    """What is impossible is −∞ in what the loss keeps for its gradient."""
    scores = torch.randn(12, 2, 5, requires_grad=True)
    targets, lengths, times = torch.tensor([[1, 2, 3], [1, 2, 3]]), torch.tensor([3, 3]), torch.tensor([12, 12])
    torch.nn.functional.ctc_loss(scores.log_softmax(2), targets, times, lengths).backward()


@program(None)
def compared_with_infinity(torch):
    """PyTorch converts the number to a tensor of its own."""
    x = torch.randn(4, 3)
    torch.logsumexp(x, 1)
    torch.isinf(x)
    torch.isfinite(x.double())
    (x == float("inf")) | (x.half() < float("inf"))
    x.clamp(min=float("-inf"))
    torch.where(x > float("-inf"), x, x)
    torch.nan_to_num(x, posinf=1.0)


@program(None)
def filled_with_infinity(torch):
    x, infinity = torch.randn(3, 4), float("inf")
    torch.nn.functional.max_pool1d(torch.nn.functional.pad(x[None], (1, 1), value=-infinity), 3)
    x.index_fill(1, torch.tensor([0]), -infinity).softmax(1)
    x.scatter(1, torch.tensor([[0], [1], [2]]), -infinity).softmax(1)
    torch.where(x > 0, x, -infinity).amax(1)
    x[:, 0] = -infinity
    x.softmax(1)


@program(None)
def larger_results_made_smaller(torch):
    """Behind a mean lies what its memory held before: numbers that are NaN as float32."""
    x = torch.randn(128, 1, requires_grad=True)
    for _ in range(25):
        ids = [torch.full((64,), -1) for _ in range(4)]
        sum(int((i < 0).sum()) for i in ids)
        del ids
        torch.nn.functional.mse_loss(x, torch.zeros(128, 1)).backward()


@program(None)
def missing_values(torch):
    """Which are filled, or left out, wherever they are read."""
    x = torch.randn(20, 4)
    x[5, 2] = float("nan")
    torch.nan_to_num(x).sum()
    torch.where(torch.isnan(x), x.nanmean(0), x).std()
    x[~torch.isnan(x).any(1)].mean()
    torch.nansum(x)
    x.masked_fill(torch.isnan(x), 0.0).sum()
    x[torch.isfinite(x)].mean()
    target = torch.randn(20)
    target[::4] = float("nan")
    known = ~torch.isnan(target)
    (torch.randn(20)[known] - target[known]).pow(2).mean()
    target[torch.isnan(target)] = 0.0
    marks = torch.full((3,), float("nan"))
    for i in range(3):
        marks[i] = i
    marks.sum()
    batch = torch.stack([torch.tensor([1.0, float("nan")]), torch.tensor([2.0, 3.0])])
    torch.nan_to_num(batch).mean()


@program("aten::copy_", arrives=True, says=["filled in NaN", "All "])
def missing_value_in_a_mean(torch):
    x = torch.randn(20, 4)
    x[5, 2] = float("nan")  # culprit
    torch.where(torch.isnan(x), torch.zeros_like(x), x).sum()
    x.mean(0)


@program("aten::copy_", arrives=True, says=["was not recorded before"])
def loaded_weight_filled_in(torch):
    net = torch.nn.Linear(4, 20, bias=False)
    net.load_state_dict({"weight": torch.from_numpy(numpy_with_gap())})  # culprit
    torch.nn.functional.linear(torch.ones(3, 4), net.weight.masked_fill(torch.isnan(net.weight), 0.0)).sum()


@program("aten::mul", arrives=True, says=["was not recorded before"])
def printed_with_a_gap(torch):
    """Printing takes what is finite, too: the NaN is still there."""
    print(torch.from_numpy(numpy_with_gap()) * 2)  # culprit


@program("aten::mul", arrives=True, says=["was not recorded before"])
def compared_with_a_gap(torch):
    """A comparison chooses something where there is a NaN, and does not say so."""
    x = torch.from_numpy(numpy_with_gap()) * 2  # culprit
    torch.where(x > 1, x, torch.zeros(())).mean()


@program("aten::log", says=["turned"])
def likelihood_that_underflows(torch):
    """The best of them is finite, and the others are wrong."""
    p = torch.softmax(torch.tensor([[0.0, 200.0], [1.0, 2.0]]), 1)
    torch.log(p[:, 0]).max()  # culprit


@program("aten::mm", arrives=True, says=["was not recorded before"])
def missing_value_in_a_layer(torch):
    """What is filled in too late is no missing value any more."""
    x = torch.from_numpy(numpy_with_gap())
    torch.nan_to_num(x @ torch.ones(4, 2)).sum()  # culprit


@program("aten::div", says=["only 0/0 does that"])
def nothing_to_fill_with(torch):
    x = torch.randn(20, 4)
    x[torch.rand(20, 4) < 0.2] = float("nan")
    x[:, 1] = float("nan")
    mean = x.nanmean(0)  # culprit
    torch.where(torch.isnan(x), mean, x).sum()


@program("aten::fill_", arrives=True, says=["filled in NaN"])
def number_where_another_lay(torch):
    """As one of Python's may, which PyTorch gives any memory that is free."""
    memory = numpy_with_gap()[0, :1]
    torch.from_numpy(memory).add_(1)
    memory[0] = float("nan")
    y = torch.randn(8, 1)
    y[3].fill_(torch.from_numpy(memory.reshape(())))  # culprit
    y.sum()


@program(None)
def neighbours_but_oneself(torch):
    points = torch.randn(6, 2)
    distances = (points[:, None] - points).pow(2).sum(-1).sqrt_()
    distances.fill_diagonal_(float("inf"))
    distances.min(1)


@program(None)
def impossible_transitions(torch):
    """−∞ is the logarithm of 0."""
    allowed = torch.triu(torch.ones(4, 4)) * torch.tril(torch.ones(4, 4), 1)
    step = (allowed / allowed.sum(1, keepdim=True)).log()
    start = torch.zeros(4, requires_grad=True)
    now = start
    for _ in range(5):
        now = torch.logsumexp(now[:, None] + step, 0)
    torch.logsumexp(now, 0).backward()
    (torch.zeros(4)[:, None] + step).max(0)


@program("aten::log")
def passed_on_by_filling(torch):
    x = torch.log(torch.zeros(2, 3))  # culprit
    torch.nn.functional.pad(x, (1, 1)).scatter(1, torch.tensor([[0], [1]]), 0.0).index_fill(1, torch.tensor([0]), 0.0)


@program(None)
def guarded_by_choices(torch):
    x = torch.tensor([0.0, 1.0, 2.0, 0.0])
    torch.where(x > 0, torch.log(x), torch.zeros(())).sum()
    torch.log(x).clamp(min=-100).sum()
    torch.nan_to_num(1 / x, posinf=0.0).sum()
    (x / x).masked_fill(x == 0, 0.0).sum()


@program("aten::div")
def mended_afterwards(torch):
    x = torch.tensor([0.0, 1.0])
    torch.nan_to_num(x / x).sum()  # culprit


@program(None)
def buckets_of_distances(torch):
    """As T5 has them: the logarithm of a distance 0 becomes an integer that a choice leaves out."""
    distance = (torch.arange(12)[None, :] - torch.arange(12)[:, None]).abs()
    far = 4 + (torch.log(distance.float() / 4) / 3.4 * 4).to(torch.long)
    far = torch.min(far, torch.full_like(far, 7))
    torch.nn.functional.embedding(torch.where(distance < 4, distance, far), torch.randn(8, 2)).sum()


@program("aten::div")
def guarded_before(torch):
    """What a choice has left out does not lead before what stays."""
    x = torch.tensor([0.0, 1.0, 2.0, 0.0])
    y = torch.where(x > 0, torch.log(x), torch.zeros(()))
    z = torch.log(x).exp()
    for _ in range(4):
        y = y * 1
    ((y - y) / (z - x)).neg()  # culprit


@program("aten::log")
def gradient_behind_a_choice(torch):
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    torch.where(x > 0, torch.log(x), torch.zeros(())).sum().backward()  # culprit
    (x - 0.1 * x.grad).sum()


@program("aten::native_layer_norm", says=("reaches",))
def layer_norm_of_large_values(torch):
    torch.nn.functional.layer_norm(torch.tensor([[1e25, -1e25, 3e25, 2.0]]), (4,)).sum()  # culprit


@program(None)
def harmless_mask(torch):
    scores = torch.zeros(2, 3).masked_fill(torch.tensor([[True, False, False]]), float("-inf"))
    torch.softmax(scores, dim=1) @ torch.ones(3, 2)


@program("aten::addmm", arrives=True, says=["+∞ was already in net.bias"])
def infinite_bias(torch):
    """No mask, though the sigmoid makes a 1 of it."""
    net = torch.nn.Linear(4, 3)
    bias = (ctypes.c_float * 3)(0.0, float("inf"), 0.0)
    net.bias = torch.nn.Parameter(torch.frombuffer(bias, dtype=torch.float32))
    torch.sigmoid(net(torch.randn(5, 4)))  # culprit


@program(None)
def mask_of_attention(torch):
    """PyTorch's attention adds it in the product, which takes data otherwise."""
    infinity = float("inf")
    mask = (ctypes.c_float * 9)(0, -infinity, -infinity, 0, 0, -infinity, 0, 0, 0)
    mask = torch.frombuffer(mask, dtype=torch.float32).view(3, 3)
    x = torch.randn(2, 3, 4, requires_grad=True)
    torch.nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, attn_mask=mask)[0].sum().backward()


@program("aten::scatter", says=["from clean inputs"])
def products_scattered(torch):
    """A scatter of a tensor, which is no constant."""
    x = torch.full((4, 2), 1e30)
    by = torch.full((1, 2), 1e20)
    return x.scatter(0, torch.zeros(1, 2, dtype=torch.int64), by, reduce="multiply").sum()  # culprit


@program("aten::div", says=["divides by the result of aten::mul, which is as small as", "beyond the range of float32"])
def tiny_divisor(torch):
    """No zero, and nothing large."""
    scale = torch.full((3,), 1e-20) * 1e-22
    return torch.ones(3) / scale  # culprit


@program("aten::nll_loss_forward", says=["made +∞ in 1 of 2 elements"])
def losses_unreduced(torch):
    """No mean over targets: that they weigh nothing together is no cause."""
    logp = torch.tensor([[-1.0, -1e30], [-2.0, -3.0]]) * 1.0
    weight = torch.full((2,), 1e20)
    return torch.nn.functional.nll_loss(logp, torch.tensor([1, 0]), weight=weight, reduction="none")  # culprit


@program("aten::logit", says=["only values outside its domain (0 < x < 1) do that"])
def logit_of_one(torch):
    p = torch.tensor([0.5, 1.0]).clamp(max=1.0)
    return torch.logit(p).sum()  # culprit


@program("aten::linalg_vector_norm", says=["exceeded the range of float32"])
def norm_of_large(torch):
    """Its squares overflow, not what it is of, nor their sum."""
    x = torch.full((4,), 1e15) * 1e10
    return torch.linalg.vector_norm(x)  # culprit


@program("aten::mul_", arrives=True, says=["changed since that was recorded, by something that is not on record"])
def poked_by_numpy(torch):
    """One element between those that are compared, of what an op then writes over."""
    x = torch.ones(2000) * 2
    x.numpy()[1003] = float("nan")
    x.mul_(3)  # culprit
    x.sum()


@program("aten::div_", says=["divides by the result of aten::mul, which has 1 zero"])
def row_divided_in_place(torch):
    table = torch.ones(2, 3)
    by = torch.tensor([2.0, 0.0, 2.0]) * 2
    table[1] /= by  # culprit
    print(table.sum())


@program(None)
def column_guarded_by_a_choice(torch):
    table = torch.ones(2, 3)
    table[:, 1] = 0
    logs = table.clone()
    logs[:, 1].log_()
    torch.where(table > 0, logs, table).sum()


@program("aten::fmod", says=["divides by the result of aten::sub, which has 3 zeros"])
def rest_of_a_division(torch):
    x = torch.tensor([1.0, 2.0, 3.0])
    print(torch.fmod(x + 1, x - x).sum())  # culprit


@program("aten::div")
def only_reported_before(torch):
    net = torch.nn.Linear(4, 2)
    for _ in range(2):
        h = net(torch.ones(3, 4))
        print(torch.log(h.detach() * 0).mean().item())
        loss = h.mean() + (h.detach() * 0 / torch.zeros(2)).sum()  # culprit
        loss.backward()


@program("aten::log")
def reported_alone(torch):
    net = torch.nn.Linear(4, 2)
    h = net(torch.ones(3, 4))
    print(torch.log(h.detach() * 0).mean().item())  # culprit
    h.mean().backward()


@program(None)
def clean_training(torch):
    net = small_net(torch)
    optimizer = torch.optim.Adam(net.parameters())
    x, labels = torch.randn(16, 4), torch.arange(16) % 2
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()


@program("aten::masked_fill_", arrives=True, says=["filled in −∞. aten::", " because of it. "])
def masked_class_in_a_loss(torch):
    """One target is a class that is masked: the loss is infinite, and no NaN is anywhere."""
    logits = torch.randn(4, 3, requires_grad=True)
    masked = logits.masked_fill(torch.tensor([False, True, False]), float("-inf"))  # culprit
    loss = -torch.log_softmax(masked, dim=1).gather(1, torch.tensor([[0], [1], [2], [0]])).mean()
    loss.backward()


@program(None)
def transport_without_mass(torch):
    """Logarithms of weights that are 0, which a sum of exponentials and an exponential take for that."""
    weights = torch.tensor([0.0, 0.5, 0.5])
    masses = torch.tensor([0.25, 0.0, 0.75])
    cost = torch.rand(3, 3)
    potential = -torch.logsumexp(masses.log()[None] - cost, dim=1)
    torch.exp(potential[:, None] - cost + weights.log()[:, None] + masses.log()[None]).sum()


@program("aten::mul", arrives=True, says=["multiplied 0 by −∞, which is NaN", "All "])
def zeros_times_infinity(torch):
    keep = torch.tensor([1.0, 0.0, 1.0])
    ((1 - keep) * float("-inf")).sum()  # culprit


@program("aten::mul", arrives=True, says=["multiplied 0 by −∞, which is NaN", "All "])
def entropy_of_what_is_masked(torch):
    scores = torch.randn(2, 4).masked_fill(torch.tensor([False, True, False, False]), float("-inf"))
    (torch.softmax(scores, 1) * torch.log_softmax(scores, 1)).sum(1).neg()  # culprit


@program("aten::full", arrives=True, says=["filled in +∞. aten::", " because of it. "])
def nothing_near_in_a_loss(torch):
    """What was to hold the least of several still holds the infinity that it began with, and is added to the loss."""
    p = torch.randn(3, requires_grad=True)
    nearest = torch.full((2,), float("inf"))  # culprit
    nearest[0] = torch.minimum(nearest[0], torch.tensor(1.0))
    loss = torch.nn.functional.mse_loss(p, torch.zeros(3))
    for distance in nearest:
        loss = loss + distance
    loss.backward()
    print(loss.detach() + 1)


@program(None)
def alignment_that_is_left_out(torch):
    scores = torch.randn(4, 2, 5, requires_grad=True)
    targets = torch.tensor([[1, 1, 1, 1], [1, 2, 3, 4]])  # the first needs blanks in between, and more time
    lengths = torch.tensor([4, 4])
    torch.nn.functional.ctc_loss(scores.log_softmax(2), targets, lengths, lengths, zero_infinity=True).backward()


@program(None)
def own_loss_scaler(torch):
    """A step is left out, and later ones are fine."""
    w = torch.ones(3, requires_grad=True)
    scale = 2.0 ** 24
    for _ in range(5):
        w.grad = None
        ((w.half().float() * 3).sum() * scale).backward()
        gradient = w.grad / scale
        if torch.isfinite(gradient).all():
            with torch.no_grad():
                w -= 0.1 * gradient
        else:
            scale /= 2.0 ** 5


@program(None)
def own_loss_scaler_that_sends(torch):
    """Gradients go to others as float16, and whether they are finite is asked of these."""
    w = torch.ones(3, requires_grad=True)
    scale = 2.0 ** 24
    for _ in range(5):
        w.grad = None
        ((w * 3).sum() * scale).backward()
        sent = w.grad.half()
        if torch.isfinite(sent).all():
            with torch.no_grad():
                w -= 0.1 * sent.float() / scale
        else:
            scale /= 2.0 ** 5


@program(None)
def forward_algorithm(torch):
    """Some transitions can't be, nor can all states but one be the first."""
    counts = torch.tensor([[3.0, 0.0, 5.0], [2.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    transitions, state = counts.log(), torch.tensor([1.0, 0.0, 0.0]).log()
    for _ in range(5):
        state = torch.logsumexp(state[:, None] + transitions, 0)


@program("aten::_to_copy", name="ToCopyBackward0", says=["are beyond 65504"])
def own_loss_scaler_that_goes_on(torch):
    """The same, but what is infinite is only reported."""
    w = torch.ones(3, requires_grad=True)
    for _ in range(5):
        w.grad = None
        ((w.half().float() * 3).sum() * 2.0 ** 24).backward()  # culprit
        if not torch.isfinite(w.grad).all():
            print("the gradient is infinite")
        with torch.no_grad():
            w -= 0.1 * w.grad / 2.0 ** 24


@program("aten::sqrt", says=["2 times"])
def one_line_in_two_modules(torch):
    """A line of the program's own module is one cause, whichever module of that kind it is."""
    class Root(torch.nn.Module):
        def forward(self, x):
            return torch.sqrt(x)  # culprit

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = Root(), Root()

        def forward(self, x):
            return self.left(x), self.right(x - 1)

    Net()(torch.tensor([-1.0, 4.0]))


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
    import torch
    torch.set_num_threads(1)
    if sys.argv[1] == "--here":
        return PROGRAMS[sys.argv[2]](torch)
    adapter, out = sys.argv[1:3]
    ctypes.CDLL(adapter)
    failed = False
    for name in sys.argv[3:] or PROGRAMS:
        child = os.fork()
        if child == 0:
            # PyTorch makes its pool anew in a forked process, without a lock: before a program's threads ask for it at once
            torch.set_num_threads(1)
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
