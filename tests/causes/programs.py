"""Small programs with a known culprit, for the real TensorFlow to record: `programs.py OUT_DIR [NAME...]`.

Each program gets a logdir of its own in every mode, OUT_DIR/NAME.MODE (see other_modes.py). EXPECTED says, per program, what
`nanlens why` must answer: the op type of the cause (or "data" for values that came in bad, None for a run without a NaN) and the
ids of the sentences that are right. `counts`: the modes in which only the counts of FULL_HEALTH can tell, so that "unknown" is an honest answer.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from other_modes import copy_as  # noqa: E402

EXPECTED = {}
PROGRAMS = {}
ANY = None
CURT, CONCISE, FULL = MODES = ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH")
BOTH = (CURT, CONCISE)


def program(cause, sentence=ANY, unknown_in=(), says="", ring=-1, alone=False, sure=False):
    """Registers a program with its cause, the sentences that are right for it, the modes where it can't be told, words that its
    sentence has to have, how many of the last rows are kept, the modes in which everything bad has to follow from that cause
    (True: in each), and whether it has to be told for certain."""
    def register(function):
        name = function.__name__
        PROGRAMS[name] = function
        EXPECTED[name] = {"cause": cause, "sentences": [sentence] if isinstance(sentence, str) else sentence,
                          "unknown_in": list(unknown_in), "says": says, "ring": ring,
                          "alone": MODES if alone is True else alone or (), "sure": sure}
        return function
    return register


def c(*values):
    import tensorflow as tf
    return tf.constant(values, tf.float32)


# --- one op


@program("Log", "log0")
def log_zero(tf, np):
    f = tf.function(lambda x: tf.reduce_mean(tf.math.log(tf.nn.relu(x))))
    f(c(1.0, -2.0, 3.0))


@program("Log", "logneg", BOTH)
def log_negative(tf, np):
    tf.function(lambda x: tf.reduce_sum(tf.math.log(x - 2.0)))(c(1.0, 3.0))


@program("Log1p", ["logneg", "log0", "generic"], BOTH)
def log1p_below(tf, np):
    tf.function(lambda x: tf.math.log1p(x * 2.0))(c(-1.0, 3.0))


@program("RealDiv", "div0", BOTH)
def division(tf, np):
    tf.function(lambda x, y: tf.reduce_sum(x) / tf.reduce_sum(y))(c(1.0, 2.0), c(1.0, -1.0))


@program("RealDiv", "div00", BOTH)
def zero_by_zero(tf, np):
    tf.function(lambda x: x / tf.norm(x))(c(0.0, 0.0))


@program("Exp", "exp", BOTH)
def exp_overflow(tf, np):
    tf.function(lambda x: tf.exp(x * 100.0))(c(1.0, 2.0))


@program("Cast", "cast", BOTH)
def cast_to_half(tf, np):
    tf.function(lambda x: tf.cast(x * 1000.0, tf.float16) + tf.constant(1.0, tf.float16))(c(1.0, 70.0))


@program("Exp", "exp", BOTH)
def inf_minus_inf(tf, np):
    @tf.function
    def f(x):
        e = tf.exp(x * 1.0)
        return e - e
    f(c(100.0, 1.0))


@program("RealDiv", "div0", BOTH)
def zero_times_inf(tf, np):
    tf.function(lambda x, m: m * (1.0 / (x * 1.0)))(c(0.0, 2.0), c(0.0, 1.0))


@program("Sqrt", "sqrtneg", BOTH)
def sqrt_negative(tf, np):
    tf.function(lambda x: tf.sqrt(x - 1.0))(c(0.5, 2.0))


@program("Rsqrt", "rsqrt0", (CURT,))
def rsqrt_zero(tf, np):
    tf.function(lambda x: tf.math.rsqrt(x * 0.0) * 2.0)(c(0.5, 2.0))


@program("Reciprocal", "div0", (CURT,))
def reciprocal_zero(tf, np):
    tf.function(lambda x: tf.math.reciprocal(tf.nn.relu(x)))(c(-1.0, 2.0))


@program("MatMul", "overflow", BOTH)
def matmul_overflow(tf, np):
    tf.function(lambda x: tf.matmul(x * 1.0, x))(tf.ones([4, 4]) * 1e20)


@program("Pow", ["pow", "generic"], BOTH)
def pow_fraction(tf, np):
    tf.function(lambda x: tf.pow(x * 1.0, 0.5))(c(-4.0, 4.0))


@program("Sum", "overflow", BOTH)
def half_sum(tf, np):
    tf.function(lambda x: tf.reduce_sum(tf.cast(x, tf.float16)))(tf.fill([300], 600.0))


@program("Square", "overflow", BOTH)
def square_overflow(tf, np):
    tf.function(lambda x: tf.reduce_mean(tf.square(x * 1e15)))(c(1e10, 1.0))


@program("Mean", "empty", BOTH)
def empty_mean(tf, np):
    tf.function(lambda x: tf.reduce_mean(tf.boolean_mask(x * 1.0, x > 10.0)))(c(1.0, 2.0))


@program("Max", "empty", BOTH)
def empty_max(tf, np):
    tf.function(lambda x: tf.reduce_max(x[:0] * 2.0) + 1.0)(c(1.0, 2.0))


@program("Acos", "domain", BOTH)
def acos_domain(tf, np):
    tf.function(lambda x: tf.acos(x * 1.0000001))(c(1.0, 0.5))


@program("Cholesky", "matrix", BOTH)
def cholesky(tf, np):
    tf.function(lambda x: tf.linalg.cholesky(x - 3.0))(tf.eye(2))


@program("Cumprod", ["overflow", "generic"], BOTH)
def cumprod(tf, np):
    tf.function(lambda x: tf.math.cumprod(x * 1e20))(c(1.0, 2.0, 3.0))


@program("Sinh", ["exp", "generic"], BOTH)
def sinh_overflow(tf, np):
    tf.function(lambda x: tf.sinh(x * 100.0))(c(1.0, 2.0))


# --- eager


@program("Log", "log0")
def eager_chain(tf, np):
    a = tf.math.log(c(0.0, 1.0) * 1.0)
    tf.argmax(tf.maximum(a * 0.0, 0.0))


@program("RealDiv", "div00", BOTH)
def eager_division(tf, np):
    x = c(0.0, 1.0) * 1.0
    (x / x) * 3.0


@program("data", "data", (CURT,))
def eager_nan_data(tf, np):
    x = tf.constant([np.nan, 1.0]) * 2.0
    tf.reduce_sum(x)


@program("data", "data", alone=True)
def constant_into_several_ops(tf, np):
    """Some of which may have made it, and one can only have passed it on."""
    x = c(1.0, np.nan, 3.0)
    w = tf.Variable([1.0, 2.0, 3.0])
    tf.math.log(x)
    tf.function(lambda x: (x * w, tf.math.log1p(x), tf.tanh(x)))(x)


@program("data", "data", alone=True)
def items_of_a_constant(tf, np):
    f = tf.function(lambda x: (tf.map_fn(lambda row: tf.abs(row), x), tf.tanh(x)))
    f(c(1.0, np.nan))


@program("data", "data", alone=True)
def beside_a_vectorised_map(tf, np):
    """Its graph has a placeholder that is no argument."""
    def f(x, y):
        z = tf.vectorized_map(lambda row: row * 2.0, y)
        return tf.tanh(x), tf.tanh(z), tf.math.log1p(x)
    tf.function(f)(c(1.0, np.nan), c(1.0, 2.0))


@program("data", "data", (CURT,), alone=True)
def one_bad_sample(tf, np):
    """Of products and sums with what is clean only its own are NaN, and none is infinite."""
    w = tf.Variable(np.ones((3, 4), np.float32))
    x = np.ones((8, 3), np.float32)
    x[5, 1] = np.nan
    tf.function(lambda x: tf.tanh(tf.matmul(x, w)))(tf.constant(x))


@program("data", "data", alone=True)
def infinite_target(tf, np):
    """No NaN follows, but the loss is infinite."""
    loss = tf.function(lambda x, y: tf.reduce_mean(tf.abs(y - x)))
    data = tf.data.Dataset.from_tensor_slices((c(1.0, 2.0, 3.0, 4.0), c(1.0, np.inf, 3.0, 4.0)))
    for x, y in data.map(lambda x, y: (x * 2.0, y)).batch(2):
        loss(x, y), tf.sign(y - x)


@program("data", "data", alone=True, sure=True)
def dataset_with_a_nan(tf, np):
    """As a Keras model is given its data."""
    rows = np.ones((8, 4), np.float32)
    rows[5, 2] = np.nan
    weights = tf.Variable(tf.ones([4, 1]))
    step = tf.function(lambda x: tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights))))
    for x in tf.data.Dataset.from_tensor_slices(rows).map(lambda row: row * 2.0).batch(4):
        step(x)


@program("data", "data", alone=True)
def batch_with_a_nan(tf, np):
    """Nothing of the pipeline is on record but what comes out of it."""
    rows = np.ones((8, 4), np.float32)
    rows[5, 2] = np.nan
    weights = tf.Variable(tf.ones([4, 1]))

    @tf.function
    def steps(batches):
        for x in batches:
            weights.assign_sub(tf.transpose(tf.reduce_mean(x, 0, keepdims=True)))

    steps(tf.data.Dataset.from_tensor_slices(rows).batch(4))


@program("data", "data", alone=True)
def generator_with_a_nan(tf, np):
    """Python code that TensorFlow calls makes the rows."""
    rows = tf.data.Dataset.from_generator(lambda: iter(np.float32([[1, 2], [3, np.nan]])), output_signature=tf.TensorSpec([2]))
    for x in rows.map(lambda row: row * 2.0).batch(2):
        tf.function(lambda x: tf.reduce_sum(x))(x)


def rows_with_a_zero(np):
    rows = np.full((8, 4), 2, np.float32)
    rows[5, 2] = 0
    return rows


@program("Log", "log0", BOTH, alone=True)
def batches_in_a_function(tf, np):
    @tf.function
    def total(batches):
        found = 0.0
        for x in batches:
            found += tf.reduce_mean(tf.math.log(x))
        return found

    total(tf.data.Dataset.from_tensor_slices(rows_with_a_zero(np)).batch(4))


@program("RealDiv", ["div00", "div0"], alone=True)
def padded_batches_in_a_function(tf, np):
    """The map is outside the call that runs it; a sequence of one number has no deviation."""
    weight = tf.Variable(2.0)

    def standard(number):
        x = tf.random.stateless_normal([tf.where(tf.equal(number, 5), 1, 4)], [1, tf.cast(number, tf.int32)])
        x -= tf.reduce_mean(x)
        return x / tf.sqrt(tf.reduce_mean(tf.square(x)))

    @tf.function
    def epoch(batches):
        total = 0.0
        for x in batches:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(x * weight))
            weight.assign_sub(0.01 * tape.gradient(loss, weight))
            total += loss
        return total

    epoch(tf.data.Dataset.range(8).map(standard).padded_batch(2))


@program("SqrtGrad", "sqrtgrad0", alone=True)
def training_in_a_function(tf, np):
    """The second batch reads what the first has spoilt."""
    weights = tf.Variable(tf.ones([4, 1]))

    @tf.function
    def train(batches):
        for x in batches:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.sqrt(tf.abs(tf.matmul(x, weights) - 4.0)))
            weights.assign_sub(0.1 * tape.gradient(loss, weights))

    train(tf.data.Dataset.from_tensor_slices(np.ones((12, 4), np.float32)).batch(4))


@program("Log", "log0", BOTH, alone=True)
def pipeline_in_a_function(tf, np):
    @tf.function
    def total(rows):
        found = 0.0
        for x in rows.map(lambda row: tf.math.log(row)).batch(4):
            found += tf.reduce_mean(x)
        return found

    total(tf.data.Dataset.from_tensor_slices(rows_with_a_zero(np)))


@program("Log", ["log0", "generic"], BOTH, alone=True)
def pipeline_made_of_a_result(tf, np):
    @tf.function
    def total(x):
        found = 0.0
        for row in tf.data.Dataset.from_tensor_slices(tf.math.log(x)).batch(4):
            found += tf.reduce_mean(row * 2.0)
        return found

    total(tf.constant(rows_with_a_zero(np)))


@program("Log", "log0", BOTH, alone=True)
def reduced_pipeline(tf, np):
    tf.data.Dataset.from_tensor_slices(rows_with_a_zero(np)).reduce(0.0, lambda state, row: state + tf.reduce_sum(tf.math.log(row)))


@program("expected", "expected", (CURT,))
def best_value_so_far(tf, np):
    """It begins as +∞, which goes to the caller, too."""
    best = tf.Variable(np.inf)

    @tf.function
    def step(loss):
        before = best.read_value()
        best.assign(tf.minimum(before, loss))
        return before
    step(c(3.0)[0] * 1.0)
    step(c(2.0)[0] * 1.0)


@program("RealDiv", "div00", BOTH, alone=True)
def pooled_nan(tf, np):
    """MaxPool makes the lowest number of nothing but NaN, and the mean of such overflows."""
    @tf.function
    def f(x):
        return tf.reduce_mean(tf.nn.max_pool2d(x / (x * x), 2, 2, "VALID"), [1, 2])
    f(tf.zeros([1, 4, 4, 1]) * 1.0)


@program("Log", "logneg", BOTH, alone=True)
def gradient_of_a_maximum_that_is_nan(tf, np):
    """It divides by the number of elements that equal the maximum."""
    v = tf.Variable([-1.0, -2.0, -3.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_max(tf.math.log(v * 2.0))
        return tape.gradient(y, v)
    step()


@program("Log", "log0", alone=True)
def put_into_an_optional(tf, np):
    y = tf.math.log(c(0.0, 1.0) * 1.0)
    z = tf.experimental.Optional.from_value((c(1.0) * 1.0, y)).get_value()
    z[1] * 2.0


@program("data", "data", (CURT,), alone=True)
def step_that_fails(tf, np):
    """TensorFlow does not record a call that ends in an error: which variable is read twice there can't be told."""
    v = tf.Variable([[1.0, np.nan], [2.0, 3.0]])

    @tf.function
    def step(x, i):
        y = tf.matmul(tf.matmul(x, v) + 1.0, tf.transpose(tf.tanh(v)))
        return tf.gather(y, i)
    try:
        step(tf.ones([3, 2]), tf.constant([7]))
    except tf.errors.InvalidArgumentError:
        pass


@program("Log", "log0", alone=(CONCISE, FULL))
def copied_when_all_is_done(tf, np):
    """As an optimizer does it: TensorFlow records no copy of an eager tensor."""
    made = [tf.math.log(tf.reshape(c(*([0.0] * k), 1.0, 2.0), [1, -1]) * 1.0) for k in (1, 2, 3)]
    weights = [tf.Variable(tf.ones([1, k + 2])) for k in (1, 2, 3)]
    for _ in range(8):
        for w in weights:
            w.assign_sub(w * 0.1)
    for w, g in zip(weights, [tf.identity(x) for x in made]):
        w.assign_sub(g - w)


@program("Log", ["logneg", "log0"], alone=True)
def call_whose_result_is_unused(tf, np):
    """It has no name in the graph, and nor has the first."""
    f = tf.function(lambda x: tf.math.log(x))
    g = tf.function(lambda x: tf.square(x) + 1.0)

    @tf.function
    def step(x):
        f(x + 0.0)
        y = f(x - 0.0)
        g(x + 1.0)
        return tf.nn.log_softmax(y)
    step(c(-1.0, 2.0, 3.0))


@program("Log", "log0", alone=True)
def infinite_argument_of_a_nested_call(tf, np):
    """Of what the call may have been given, some is clean: that it overflowed is no account."""
    f = tf.function(lambda x: x * x + 1.0)

    @tf.function
    def step(x):
        y = x - 0.5
        z = tf.math.log(tf.nn.relu(x))
        f(z)
        return y
    step(c(-1.0, 2.0, 3.0))


@program(None)
def healthy(tf, np):
    tf.function(lambda x: tf.reduce_sum(tf.math.log(x)))(c(1.0, 2.0))


# --- functions, control flow


@program("Log", "log0")
def killed(tf, np):
    @tf.function
    def f(x):
        y = x * 1.0
        return tf.where(tf.math.is_finite(tf.math.log(y)), tf.math.log(y), tf.zeros_like(x))
    f(c(0.0, 1.0))


@program("Log", "log0")
def nested(tf, np):
    @tf.function
    def inner(x):
        return tf.math.log(x)

    @tf.function
    def f(x):
        return inner(x * 0.0) + inner(x + 1.0)
    f(c(1.0, 2.0))


@program("Log", "log0")
def nested_reused_second(tf, np):
    @tf.function
    def inner(x):
        return tf.math.log(x) * 2.0

    @tf.function
    def f(x):
        a = inner(x + 1.0)
        b = inner(x * 0.0)
        return a + b
    f(c(1.0, 2.0))


@program("RealDiv", "div00", BOTH)
def nested_by_norm(tf, np):
    """A function that is called twice, of which the second call fails: with an argument that an op made before the first."""
    @tf.function
    def unit(g):
        return g / tf.norm(g)

    @tf.function
    def f(x):
        return unit(x * 2.0) * 0.1 + unit(tf.nn.relu(-x)) * 0.1
    f(c(1.0, 2.0))


@program("expected", "log0", unknown_in=(CURT,))
def probabilities_as_logarithms(tf, np):
    """A forward algorithm, as in CTC: what can't come next is −∞, and so is a state that nothing leads to."""
    @tf.function
    def f(scores):
        allowed = tf.math.log(tf.constant(np.eye(5, k=1) + np.eye(5, k=2), tf.float32))
        state = scores
        for _ in range(2):
            state = tf.reduce_logsumexp(state[:, None] + allowed, 0) + scores
        return tf.reduce_logsumexp(state)
    f(c(0.1, 0.2, 0.3, 0.4, 0.5))


@program("Xlogy", "generic", unknown_in=(CURT,))
def product_with_a_logarithm(tf, np):
    f = tf.function(lambda x: tf.math.xlogy(2.0, x) * 1.0)
    f(c(0.0, 1.0))


@program("expected", "log0", unknown_in=(CURT,))
def integers_in_a_graph(tf, np):
    @tf.function
    def f(x):
        far = tf.minimum(tf.cast(tf.math.log(x), tf.int32), 3)
        return tf.cast(tf.where(x > 0.0, far, 0), tf.float32) + tf.minimum(x, 1.0)
    f(c(0.0, 1.0, 2.0))


@program("Log", ["log0", "unknown"], unknown_in=(CURT,))
def integers_in_a_graph_without_a_choice(tf, np):
    @tf.function
    def f(x):
        return tf.cast(tf.minimum(tf.cast(tf.math.log(x), tf.int32), 3), tf.float32) + tf.minimum(x, 1.0)
    f(c(0.0, 1.0, 2.0))


@program("expected", "log0", unknown_in=(CURT,))
def guarded_by_a_choice(tf, np):
    f = tf.function(lambda x: tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0)))
    f(c(0.0, 1.0, 2.0))


@program("expected", "log0", unknown_in=(CURT,))
def guarded_by_clipping(tf, np):
    f = tf.function(lambda x: tf.reduce_sum(tf.clip_by_value(tf.math.log(x), -10.0, 10.0)))
    f(c(0.0, 1.0, 2.0))


@program("expected", "log0", unknown_in=(CURT,))
def integers_of_which_one_chooses(tf, np):
    x = c(0.0, 1.0, 2.0)
    far = tf.minimum(tf.cast(tf.math.log(x), tf.int32), 3)
    tf.reduce_sum(tf.where(x > 0.0, far, 0))


@program("Log", "log0", unknown_in=(CURT,))
def gradient_behind_a_choice(tf, np):
    x = tf.Variable([0.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0))
    x.assign_sub(tape.gradient(y, x))


@program("Reciprocal", "div0", BOTH)
def choice_beside_a_quotient(tf, np):
    @tf.function
    def loss(x):
        x = tf.nn.relu(x)
        return tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0) + tf.math.reciprocal(x))

    loss(tf.constant([-1.0, 1.0, 2.0]))


@program("Erfinv", "domain", unknown_in=(CURT,), says="do that")
def ends_of_a_domain(tf, np):
    """Nothing tells what the constant holds."""
    tf.math.erfinv(c(1.0, 0.5)) + 1.0


@program("expected")
def multiplied_without_nan(tf, np):
    @tf.function
    def entropy(p):
        p = tf.nn.relu(p)
        return tf.reduce_sum(tf.math.multiply_no_nan(tf.math.log(p), p))

    entropy(c(-1.0, 0.5, 0.5))


@program("FloorMod", "div0", BOTH)
def rest_of_a_division(tf, np):
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.math.floormod(x + 1.0, x - x))

    f(c(1.0, 2.0))


@program("Log", ("log0", "logneg"))
def reported_before_training(tf, np):
    """What is only printed is no gradient's."""
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def report(x):
        return tf.reduce_mean(x / (x - x))

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(v) * 2.0)
        v.assign_sub(tape.gradient(y, v))

    report(v)
    train()


@program("Log", ("log0", "logneg"))
def reported_beside_training(tf, np):
    """More follows from what is only given back than from what goes into the gradient."""
    v = tf.Variable([0.0, 1.0])

    @tf.function
    def train(x):
        ratio = x / (x - x)
        for i in range(9):
            ratio = ratio * 2.0
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(v))
        v.assign_sub(tape.gradient(y, v))
        return tf.reduce_mean(ratio)

    train(c(1.0, 2.0))


@program("Log", "log0")
def reported_beside_a_result(tf, np):
    """More follows from what a metric keeps than from what is given back."""
    metric = tf.Variable(0.0)

    @tf.function
    def predict(x):
        ratio = x / (x - x)
        for i in range(9):
            ratio = ratio * 2.0
        metric.assign(tf.reduce_mean(ratio))
        return tf.math.log(tf.nn.relu(x))

    predict(c(1.0, -2.0))


@program("Sqrt", "sqrtneg", BOTH)
def nested_three_deep(tf, np):
    @tf.function
    def inner(x):
        return tf.sqrt(x - 5.0)

    @tf.function
    def middle(x):
        return inner(x * 2.0) + 1.0

    @tf.function
    def outer(x):
        return tf.reduce_sum(middle(x + 0.5))
    outer(c(1.0, 2.0))


@program("Log", "logneg", BOTH)
def retraced(tf, np):
    @tf.function
    def f(x):
        return tf.math.log(x - 1.5)
    f(c(2.0, 3.0))
    f(tf.constant([[2.0, 3.0, 4.0]]))
    f(c(1.0, 3.0))


@program("Log", "logneg", BOTH)
def cond_branch(tf, np):
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0.0:
            y = tf.math.log(x - 2.0)
        else:
            y = x
        return y * 2.0
    f(c(1.0, 3.0))
    f(c(-1.0, 0.0))


@program("Mul", "overflow", BOTH)
def while_loop(tf, np):
    @tf.function
    def f(x):
        for _ in tf.range(6):
            x = x * x
        return tf.reduce_sum(x)
    f(c(1e4, 1.0))


@program("RealDiv", "div0", BOTH)
def loop_counts_down(tf, np):
    @tf.function
    def f(x):
        y = x
        for i in tf.range(4):
            y = x / (2.0 - tf.cast(i, tf.float32))
        return y + 1.0
    f(c(1.0, 2.0))


@program("RealDiv", "div0", BOTH)
def case(tf, np):
    @tf.function
    def f(x):
        return tf.case([(tf.reduce_sum(x) > 0.0, lambda: 1.0 / (x - x))], default=lambda: x)
    f(c(1.0, 2.0))


@program("Log", "log0")
def cond_in_loop(tf, np):
    @tf.function
    def f(x):
        y = x
        for i in tf.range(3):
            if i == 1:
                y = tf.math.log(y - y)
            else:
                y = y * 1.0
        return y
    f(c(1.0, 2.0))


@program("Log", "log0")
def map_fn(tf, np):
    @tf.function
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_sum(tf.math.log(row)), tf.nn.relu(x))
    f(tf.constant([[1.0, 2.0], [0.0, 1.0]]))


@program("Log", "log0", alone=True)
def cond_in_map(tf, np):
    @tf.function
    def f(xs):
        return tf.reduce_sum(tf.map_fn(lambda x: tf.cond(x > 1.0, lambda: x * 2.0, lambda: tf.math.log(x)), xs))
    f(c(1.0, 2.0, 0.5))
    f(c(1.0, 0.0, 0.5, 3.0))


@program("Log", "log0", alone=True)
def switch_case_in_map(tf, np):
    @tf.function
    def apply(xs, kinds):
        def one(given):
            x, kind = given
            return tf.switch_case(kind, [lambda: tf.sqrt(tf.abs(x)), lambda: tf.math.log(tf.nn.relu(x)), lambda: x * 2.0])
        return tf.reduce_sum(tf.map_fn(one, (xs, kinds), fn_output_signature=tf.float32))
    apply(c(1.0, 2.0, 3.0, 4.0), tf.constant([0, 1, 2, 1]))
    apply(c(1.0, 2.0, -3.0, 4.0), tf.constant([0, 2, 1, 1]))


@program("Log", "log0", alone=True)
def switch_case_in_loop(tf, np):
    @tf.function
    def f(x):
        total = tf.zeros_like(x)
        for i in tf.range(4):
            total += tf.switch_case(i % 3, [lambda: x * 2.0, lambda: tf.sqrt(x), lambda: tf.math.log(x)])
        return tf.reduce_mean(total)
    f(c(1.0, 2.0))
    f(c(0.0, 2.0))


@program("Log", "log0", alone=True)
def switch_case_gradient(tf, np):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x, kind):
        with tf.GradientTape() as tape:
            h = x * w
            y = tf.switch_case(kind, [lambda: h * 2.0, lambda: tf.math.log(h), lambda: tf.sqrt(h)], default=lambda: h)
            loss = tf.reduce_sum(y * y)
        w.assign_sub(0.01 * tape.gradient(loss, w))
    for kind in range(4):
        step(c(1.0, 2.0), tf.constant(kind))
    step(c(0.0, 2.0), tf.constant(1))
    step(c(1.0, 2.0), tf.constant(2))


def call_two(tf, first, second):
    """Functions whose names TensorFlow might have given to branches or to a loop's body."""
    first, second = tf.function(first), tf.function(second)

    @tf.function
    def f(x):
        one, other = first(x), second(x)
        return tf.reduce_sum(other * 0.5) + tf.reduce_sum(one * 2.0)
    f(c(1.0, 2.0))
    f(c(0.0, 2.0))


@program("Log", "log0", alone=True)
def functions_named_like_branches(tf, np):
    def residual_branch1(x):
        return tf.math.log(x * 1.0)

    def residual_branch2(x):
        return x + 1.0
    call_two(tf, residual_branch1, residual_branch2)


@program("Log", "log0", alone=True)
def functions_named_like_bodies(tf, np):
    def encoder_body(x):
        return tf.math.log(x * 1.0)

    def decoder_body(x):
        return x + 1.0
    call_two(tf, encoder_body, decoder_body)


@program("Log", "log0", alone=True)
def functions_named_like_control_flow(tf, np):
    def cond_encoder(x):
        return tf.math.log(x * 1.0)

    def while_decoder(x):
        return x + 1.0
    call_two(tf, cond_encoder, while_decoder)


def two_branches(tf, a, b, which):
    """Each takes its inputs in an order of its own, and keeps something for its gradient."""
    if which > 0:
        s, t = a * 2.0, a + b
    else:
        s, t = b * b, tf.sqrt(b) * a
    return tf.reduce_sum(s * t)


@program("RealDiv", ["div0", "div00"], alone=True)
def gradient_of_branches(tf, np):
    w, v = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 1.0])

    @tf.function
    def step(x, y, which):
        with tf.GradientTape() as tape:
            loss = two_branches(tf, x * w, y * v, which)
        g = tape.gradient(loss, [w, v])
        w.assign_sub(0.01 * g[0])
        v.assign_sub(0.01 * g[1] / tf.reduce_max(y))
    for i in range(6):
        step(c(1.0, 2.0), c(1.0, 2.0) * (0.0 if i == 3 else 1.0), tf.constant(i % 2))


@program("Sqrt", "sqrtneg", alone=True)
def gradient_of_branches_of_a_function(tf, np):
    w, v = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 1.0])

    @tf.function
    def f(x, y, which):
        return two_branches(tf, x * w, y * v, which)

    @tf.function
    def step(x, y, which):
        with tf.GradientTape() as tape:
            loss = f(x, y, which)
        for variable, gradient in zip((w, v), tape.gradient(loss, [w, v])):
            variable.assign_sub(0.01 * gradient)
    for i in range(6):
        step(c(1.0, 2.0), c(1.0, -2.0 if i == 2 else 2.0), tf.constant(i % 2))


@program("Sqrt", "sqrtneg", alone=True)
def gradient_of_branches_in_a_loop(tf, np):
    w, v = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 1.0])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            a, b = x * w, y * v
            total = tf.zeros_like(a)
            for i in tf.range(4):
                if i % 2 > 0:
                    total, b = total + a * 2.0, a + b
                else:
                    total, b = total + b * b, tf.sqrt(b) * a
            loss = tf.reduce_sum(total)
        for variable, gradient in zip((w, v), tape.gradient(loss, [w, v])):
            variable.assign_sub(0.001 * gradient)
    for i in range(4):
        step(c(1.0, 2.0), c(1.0, -2.0 if i == 2 else 2.0))


@program("Log", "log0", alone=True)
def gradient_of_several_results_of_a_loop(tf, np):
    """What the gradient keeps is named after the loop, whichever of its results it is."""
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        a = x * w
        b, count = tf.math.log(a), tf.constant(0.0)
        for _ in tf.range(2):
            a, b, count = tf.tanh(a), b * 0.5, count + 1.0
        return tf.reduce_sum(tf.math.squared_difference(a, b)) / count

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = f(x)
        w.assign_sub(0.01 * tape.gradient(loss, w))
    for i in range(3):
        step(c(1.0, 0.0 if i == 1 else 2.0))


@program("RealDiv", ["div0", "div00"], alone=True)
def branches_that_take_inputs_in_two_orders(tf, np):
    @tf.function
    def f(x, steps):
        temperature, total = tf.constant(1.0), tf.zeros_like(x)
        for _ in tf.range(steps):
            p = tf.nn.softmax(x / temperature)
            if tf.reduce_max(p) > 2.0:
                total += p
            else:
                total += p * 0.5
            temperature = tf.maximum(temperature - 0.25, 0.0)
        return total
    f(c(1.0, -2.0, 0.5, 0.25), tf.constant(7))


# --- variables and gradients


@program("Log", "log0")
def variable_update(tf, np):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def update(x):
        v.assign_sub(tf.math.log(x * 1.0))
        return tf.reduce_sum(v)

    @tf.function
    def read(x):
        return v * x
    update(c(0.0, 1.0))
    read(c(1.0, 1.0))


@program("SqrtGrad", "sqrtgrad0", BOTH)
def sqrt_gradient(tf, np):
    w = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(w))
    w.assign_sub(tape.gradient(loss, w))
    tf.reduce_sum(w)


@program("SqrtGrad", ["sqrtgrad0", "opaque"], BOTH)
def sqrt_gradient_in_function(tf, np):
    f = tf.function(lambda x: tf.reduce_sum(tf.sqrt(x)))
    u = tf.Variable([0.0, 4.0])
    with tf.GradientTape() as tape:
        loss = f(u)
    tape.gradient(loss, u)


@program(("RealDiv", "Reciprocal", "SqrtGrad"), ["div00", "div0", "sqrtgrad0", "opaque"], BOTH)
def norm_gradient(tf, np):
    x = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.norm(x * 1.0)
    tape.gradient(loss, x)


# Log and the gradient's Reciprocal meet the same zeros in one call; the gradient is what ruins the weights.
@program(("Log", "Reciprocal"), ["log0", "div0"])
def reused_after_update(tf, np):
    w = tf.Variable([0.5, 1.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(tf.math.log(tf.nn.relu(w)))
        g = tape.gradient(loss, w)
        w.assign_sub(g * -0.1 + c(1.0, 0.0))
        return loss
    for _ in range(3):
        step()


@program("Exp", "exp", BOTH)
def optimizer(tf, np):
    w = tf.Variable([80.0, 1.0])
    sgd = tf.keras.optimizers.SGD(1.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(w * 1.2))
        sgd.apply_gradients([(tape.gradient(loss, w), w)])


# --- data


@program("data", "data", (CURT,))
def bad_argument(tf, np):
    tf.function(lambda x: x * 2.0 + 1.0)(tf.constant([np.nan, 1.0], tf.float32))


@program("data", "const")
def bad_constant(tf, np):
    table = np.array([1.0, np.nan], np.float32)
    tf.function(lambda x: tf.constant(table) * x + 1.0)(c(1.0, 2.0))


@program("Log", "log0")
def data_map(tf, np):
    f = tf.function(lambda x: tf.math.log(x))
    rows = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]], np.float32)
    for x in tf.data.Dataset.from_tensor_slices(rows).map(f):
        tf.reduce_sum(x)


@program("data", "data", ())
def data_holds_nan(tf, np):
    rows = np.array([[1.0, 2.0], [np.nan, 1.0]], np.float32)
    for x in tf.data.Dataset.from_tensor_slices(rows):
        tf.reduce_sum(x * 2.0)


# --- networks


@program(("Square", "SquaredDifference", "MatMul"), "overflow", BOTH)
def keras_fit(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.full([16, 3], 1e30, np.float32), np.ones([16, 1], np.float32), batch_size=8, verbose=0)


@program("data", ["data"])
def keras_nan_labels(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones([16, 3], np.float32), np.full([16, 1], np.nan, np.float32), batch_size=8, verbose=0)


@program("Mul", "overflow", BOTH)
def loss_scaling(tf, np):
    @tf.function
    def f(x):
        loss = tf.reduce_sum(tf.cast(x, tf.float16))
        return loss * tf.constant(32768.0, tf.float16)
    f(c(1.0, 3.0))


@program("MatMul", "overflow", BOTH)
def mixed_precision(tf, np):
    @tf.function
    def f(x, w):
        return tf.cast(tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16)), tf.float32) * 2.0
    f(tf.fill([2, 64], 60.0), tf.fill([64, 2], 60.0))


@program("expected", "expected", (CURT,))
def attention_mask(tf, np):
    mask = np.array([[0.0, -np.inf], [0.0, 0.0]], np.float32)

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.nn.softmax(x + tf.constant(mask)))
    f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@program(("Softmax", "data"), ["allmasked", "const"], (CURT,))
def all_masked(tf, np):
    mask = np.full([2, 2], -np.inf, np.float32)

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.nn.softmax(x + tf.constant(mask)))
    f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@program(("Sub", "data"), ["allmasked", "const"], (CURT,))
def no_action_left(tf, np):
    @tf.function
    def f(x, mask):
        left = tf.where(mask, x, -np.inf)
        return left - tf.reduce_logsumexp(left, -1, keepdims=True)
    f(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[True, False], [False, False]]))


@program("Mul", "overflow", BOTH)
def softmax_of_inf(tf, np):
    tf.function(lambda x: tf.nn.softmax(x * 1e38 * 10.0))(c(1.0, 2.0))


@program("Log", "log_softmax")
def log_of_softmax(tf, np):
    @tf.function
    def f(x):
        p = tf.nn.softmax(x * 200.0)
        return -tf.reduce_mean(tf.math.log(p))
    f(tf.constant([[1.0, 2.0], [3.0, 2.0]]))


@program("RealDiv", ["div0", "div00"], BOTH)
def standardise(tf, np):
    @tf.function
    def f(x):
        mean = tf.reduce_mean(x)
        deviation = tf.math.reduce_std(x)
        return (x - mean) / deviation
    f(c(3.0, 3.0, 3.0))


@program("Rsqrt", "rsqrt0", (CURT,))
def batch_norm_without_epsilon(tf, np):
    @tf.function
    def f(x):
        mean, variance = tf.nn.moments(x, [0])
        return tf.nn.batch_normalization(x, mean, variance, None, None, 0.0)
    f(tf.constant([[3.0, 1.0], [3.0, 2.0]]))


@program("Log", "log0")
def two_replicas(tf, np):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        return strategy.run(lambda: tf.math.log(v - v))
    step()


@program("Log", "log0")
def split_and_concat(tf, np):
    @tf.function
    def f(x):
        a, b = tf.split(tf.math.log(x * 1.0), 2)
        return tf.concat([b, a], 0) * 2.0
    f(c(0.0, 1.0, 2.0, 3.0))


@program("Log", "log0")
def many_calls(tf, np):
    f = tf.function(lambda x: tf.reduce_sum(tf.math.log(x * 1.0)))
    for value in (3.0, 2.0, 1.0, 0.0):
        f(c(value, 1.0))


@program("Sum", "overflow")
def eager_sum(tf, np):
    """Its axes are a constant, of which TensorFlow records nothing."""
    return tf.reduce_sum(tf.constant([3e38, 3e38, -1.0]) * 1.0)


@program("EuclideanNorm", "overflow")
def eager_norm(tf, np):
    return tf.math.reduce_euclidean_norm(tf.constant([1e30, 1.0]) * 1.0)


@program("Mul", "overflow", (CURT,))
def by_a_number(tf, np):
    """TensorFlow records nothing of Python's numbers; nor does what comes next follow from what came before."""
    x = c(1e20, 2.0) * 1.0
    return x * 1e30, x / 0.0


@program("Log", "log0")
def through_a_spectrum(tf, np):
    """TensorFlow tells nothing of complex tensors: what is behind them is looked for."""
    def f(x):
        spectrum = tf.signal.rfft(tf.math.log(x * 1.0)) * tf.constant(1 + 1j, tf.complex64)
        return tf.math.real(spectrum) * 2.0 + tf.abs(spectrum)
    f(c(0.0, 1.0, 2.0, 3.0))
    tf.function(f)(c(0.0, 1.0, 2.0, 3.0))


@program("Real", "unknown", (CURT, CONCISE, "FULL_HEALTH"))
def made_by_complex_numbers(tf, np):
    """1/0 of complex numbers: no more can be told than that it came in by them."""
    x = c(0.0, 1.0) * 1.0
    y = tf.constant([1 + 1j, 1], tf.complex64) / tf.complex(x, x)
    return tf.math.real(y) * 2.0


@program("Sum", "overflow", (CURT,))
def along_an_argument(tf, np):
    """Of axes and classes nothing is recorded; they are no numbers that could be bad."""
    tf.function(lambda x, axis: tf.reduce_sum(x * 1.0, axis=axis))(c(3e38, 2e38), tf.constant([0]))


@program("SparseSoftmaxCrossEntropyWithLogits", "generic", (CURT,))
def classes_as_an_argument(tf, np):
    def loss(x, labels):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.reshape(x * 1.0, [1, 2]))
    tf.function(loss)(c(3e38, -3e38), tf.constant([1]))


@program("data", "data")
def infinite_weight(tf, np):
    """An infinity that a layer takes is no mask, though the sigmoid makes ones and zeros of it."""
    w = tf.Variable([[1.0], [1.0]])
    w.assign(np.array([[np.inf], [1.0]], np.float32))
    tf.function(lambda x: tf.sigmoid(x @ w))(c(1.0, 2.0)[None])


@program("data", "data", says="what was written to this variable at programs.py:")
def weight_of_a_nested_function(tf, np):
    """No op is on record for the call, nor which variable the function took from outside."""
    scale, shift = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([0.5, 0.5, 0.5])
    layer = tf.function(lambda x: x * scale + shift)
    model = tf.function(lambda x: tf.reduce_sum(layer(x + 1.0)))
    shift.assign(np.array([1, np.nan, 1], np.float32))
    model(c(1.0, 2.0, 3.0))


@program("data", "data", says="what was written to this variable at programs.py:")
def weights_beside_a_captured_constant(tf, np):
    """A call is given the small constant that its function made a Const of, too."""
    mean, scale, shift = tf.constant([0.5, 0.5, 0.5]), tf.Variable([1.0, 2.0, 3.0]), tf.Variable([0.5, 0.5, 0.5])
    shift.assign(np.array([1, np.nan, 1], np.float32))
    tf.function(lambda x: tf.reduce_sum((x - mean) * scale + shift))(c(1.0, 2.0, 3.0))


@program("data", "data", says="AssignAddVariableOp at programs.py:")
def update_without_a_result(tf, np):
    """Not what the variable held at first: that was fine."""
    w = tf.Variable([3e38, 1.0])

    @tf.function
    def step():
        w.assign_add([3e38, 1.0], read_value=False)
    step()
    tf.function(lambda: tf.reduce_sum(w * 1.0))()


@program("data", "data", says="what was written to this variable at programs.py:")
def table_that_gates_hide(tf, np):
    """An infinity in a table that is looked up is no mask; two ops read it."""
    table = tf.Variable(tf.ones([4, 2]))
    table.assign(np.array([[1, 1], [-np.inf, 1], [1, 1], [1, 1]], np.float32))
    tf.function(lambda i: tf.sigmoid(tf.gather(table, i % tf.shape(table * 1.0)[0])))(tf.constant([1, 2]))


@program("Log", "log0")
def copied_behind_a_custom_gradient(tf, np):
    """Eagerly, TensorFlow returns a copy of what such a function gives, and tells nothing of it."""
    @tf.custom_gradient
    def logarithm(x):
        return tf.math.log(x), lambda g: g / x
    tf.reduce_sum(logarithm(tf.nn.relu(c(1.0, -2.0, 3.0))))


@program("Log", "log0")
def gradient_of_items_read_in_a_loop(tf, np):
    def total(x):
        items = tf.TensorArray(tf.float32, 3).unstack(x)
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.math.log(items.read(i)) * s),
                             (0, tf.constant(1.0)))[1]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = total(tf.nn.relu(x))
        return tf.reduce_sum(tape.gradient(y, x) * 2.0)
    step(c(1.0, -2.0, 3.0))


@program("Log", "log0", ("FULL_HEALTH", *BOTH), ring=4)
def ring_that_lost_the_beginning(tf, np):
    """No row is left of the square, as there is none of integers: what takes it has not made this of something clean."""
    def total(x):
        y = tf.matmul(tf.math.log(tf.nn.relu(x)), tf.ones([3, 2]))
        return tf.reduce_sum(-(tf.square(y) * 2.0))
    tf.function(total)(c(1.0, -2.0, 3.0)[None])


@program("Log", "log0")
def session(tf, np):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2])
        y = tf.math.log(x * 1.0) * 2.0
        with tf.compat.v1.Session() as s:
            for value in ([1.0, 2.0], [0.0, 1.0]):
                s.run(y, {x: value})


@program("Pow", "pow", alone=True)
def layer_that_is_there_twice(tf, np):
    """One op of one line, in two layers, and eagerly besides, is one cause."""
    class Degrees(tf.Module):
        def __call__(self, x):
            with self.name_scope:
                return x * tf.pow(tf.reduce_sum(tf.nn.relu(x), 1), -0.5)[:, None]
    first, second = Degrees("first"), Degrees("second")
    x = tf.constant([[1.0, 2.0], [-1.0, -2.0]])
    first(x)
    tf.function(lambda x: tf.reduce_sum(first(x)) + tf.reduce_sum(second(x)))(x)


@program(("RealDiv", "data"), ["div0", "data"], (CURT,))
def division_beside_a_mask(tf, np):
    """What is masked already is no excuse for what a division by 0 makes of the rest."""
    @tf.function
    def best(logits, beams, length):
        total = beams[:, None] + tf.nn.log_softmax(logits)
        return tf.math.top_k(tf.reshape(total / tf.pow(tf.cast(length, tf.float32), 0.7), [-1]), k=3)
    best(tf.reshape(tf.range(12.0), [3, 4]), c(0.0, -np.inf, -np.inf), tf.constant(0))


@program("Log", "log0", alone=(FULL,))
def loop_that_trains(tf, np):
    """The optimizer runs in the loop: what it makes of a weight is read in the next round."""
    w = tf.Variable([[1.0], [-1.0]])
    data = tf.constant([[2.0, 1.0], [1.0, 1.0], [3.0, 1.0]])
    @tf.function
    def epoch(data):
        total = 0.0
        for i in tf.range(3):
            with tf.GradientTape() as tape:
                rate = tf.nn.relu(tf.matmul(data[i][None], w))
                loss = tf.reduce_mean(rate - tf.math.log(rate))
            w.assign_sub(0.1 * tape.gradient(loss, w))
            total += loss
        return total
    epoch(data)


@program("Log", "log0", alone=(FULL,))
def zeros_of_an_infinity(tf, np):
    """Softplus of −∞ is 0, the logarithm of which is −∞ again: one fault, the first."""
    rho = tf.Variable(tf.fill([3], tf.math.log(tf.math.expm1(tf.constant(0.0)))))
    tf.function(lambda: tf.reduce_sum(tf.math.log(tf.nn.softplus(rho))))()


@program("expected", unknown_in=BOTH)
def filled_as_a_bound(tf, np):
    """A number that fills a tensor eagerly is as good as a constant of a graph."""
    best = tf.fill([3], np.float32(np.inf))
    for step in range(3):
        best = tf.minimum(best, c(3.0, 4.0, 5.0) - step)


@program(("Mul", "data"), ["zero_times", "const", "data"], (CURT,))
def mask_that_is_multiplied(tf, np):
    """0 · −∞ is NaN wherever nothing is masked."""
    @tf.function
    def attend(scores, keep):
        return tf.nn.softmax(scores + (1.0 - keep) * -np.inf)
    attend(c(1.0, 2.0, 3.0), c(1.0, 0.0, 1.0))


def scaled_training(tf, lower):
    """One weight in float16, trained with a loss that is scaled too far; `lower` gives the scale to go on with."""
    w, scale = tf.Variable([[0.5], [0.25]]), tf.Variable(2.0 ** 30)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.cast(tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16)), tf.float32)
            loss = tf.reduce_mean(tf.square(y - 1.0)) * scale
        gradient = tape.gradient(loss, w) / scale
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.01 * gradient)
        else:
            scale.assign(lower(scale))
    for _ in range(4):
        step(tf.constant([[1.0, 2.0], [3.0, 1.0]]))


@program("expected", ["scaled", "cast"], unknown_in=BOTH)
def step_left_out(tf, np):
    """The gradient is infinite once, a branch leaves the step out, and the next ones are fine."""
    scaled_training(tf, lambda scale: 1.0)


@program("SqrtGrad", "sqrtgrad0")
def step_left_out_for_another_reason(tf, np):
    """The gradient is infinite whatever the scale: the root of 0, in float16."""
    w, x = tf.Variable([1.0, 2.0]), [[0.0, 1.0], [2.0, 1.0], [3.0, 1.0]]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(tf.cast(w, tf.float16) * tf.cast(x, tf.float16)))
        gradient = tape.gradient(loss, w)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.01 * gradient)
    for sample in x:
        step(tf.constant(sample) * tf.constant([1.0, 1.0]))


@program("expected", ["scaled", "cast"], unknown_in=BOTH)
def step_of_a_loop_left_out(tf, np):
    """Gradients of a loop come out of another, and some of them are calculated in vain."""
    w, scale = tf.Variable([[0.5, 0.25], [0.25, 0.5]]), tf.Variable(2.0 ** 30)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.cast(x, tf.float16)
            for _ in tf.range(3):
                y = tf.tanh(tf.matmul(y, tf.cast(w, tf.float16)))
            loss = tf.reduce_mean(tf.square(tf.cast(y, tf.float32) - 1.0)) * scale
        gradient = tape.gradient(loss, w)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.01 * gradient / scale)
        else:
            scale.assign(1.0)
    for _ in range(4):
        step(tf.constant([[1.0, 2.0], [3.0, 1.0]]))


@program("Cast", ["cast", "overflow"], BOTH)
def steps_never_taken(tf, np):
    """No step is taken, as the scale is never lowered."""
    scaled_training(tf, lambda scale: scale)


@program("Cast", ["cast", "overflow"], BOTH)
def steps_never_taken_beside_a_choice(tf, np):
    """The gradient of a maximum chooses, too: that leaves out a part of the infinities, and the other spoils each step."""
    w, other = tf.Variable([[0.5], [0.25]]), tf.Variable([[-0.5], [-0.25]])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            small = tf.cast(x, tf.float16)
            y = tf.maximum(tf.matmul(small, tf.cast(w, tf.float16)), tf.matmul(small, tf.cast(other, tf.float16)))
            loss = tf.reduce_mean(tf.square(tf.cast(y, tf.float32) - 1.0)) * 2.0 ** 30
        gradients = tape.gradient(loss, [w, other])
        if tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients]):
            w.assign_sub(0.01 * gradients[0])
    for _ in range(4):
        step(tf.constant([[1.0, 2.0], [3.0, 1.0]]))


def with_holes(np):
    values = np.arange(24, dtype=np.float32).reshape([8, 3])
    values[2, 1] = values[5, 0] = np.nan
    return values


@program("expected", "guarded")
def missing_values(tf, np):
    """Holes in the data that the pipeline fills."""
    fill = lambda x: tf.where(tf.math.is_nan(x), 0.0, x)
    for batch in tf.data.Dataset.from_tensor_slices(with_holes(np)).map(fill).batch(4):
        tf.reduce_sum(batch)


@program("expected", "guarded")
def samples_with_holes(tf, np):
    """The pipeline leaves out the samples that have holes."""
    whole = lambda x: tf.reduce_all(tf.math.is_finite(x))
    for batch in tf.data.Dataset.from_tensor_slices(with_holes(np)).filter(whole).batch(4):
        tf.reduce_sum(batch)


def labelled_in_pairs(tf, np):
    """Batches of data that the pipeline changes, and of labels that it passes on as they are, with holes."""
    labels = with_holes(np)
    labels[6, 2] = labels[7, 1] = np.nan
    pairs = tf.data.Dataset.from_tensor_slices((np.ones([8, 3], np.float32), labels))
    return pairs.map(lambda x, label: (2.0 * x, label)).batch(8).repeat(2)


@program("expected", "guarded")
def labels_with_holes(tf, np):
    """What is made of the holes is left out."""
    @tf.function
    def error(x, label):
        return tf.reduce_mean(tf.where(tf.math.is_nan(label), 0.0, tf.square(x - label)))
    for x, label in labelled_in_pairs(tf, np):
        error(x, label)


@program("expected", "guarded")
def labels_that_are_filled_first(tf, np):
    """A function fills the holes of what it is given before all else."""
    w = tf.Variable(0.5)

    @tf.function
    def step(x, label):
        known = tf.logical_not(tf.math.is_nan(label))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x * w - tf.where(known, label, 0.0)) * tf.cast(known, tf.float32))
        w.assign_sub(0.01 * tape.gradient(loss, w))
    for x, label in tf.data.Dataset.from_tensor_slices((np.ones([8, 3], np.float32), with_holes(np))).batch(4):
        step(x, label)


@program("data", "data")
def labels_with_holes_in_a_metric(tf, np):
    """So it is, but not in a metric."""
    @tf.function
    def error(x, label):
        return tf.reduce_mean(tf.where(tf.math.is_nan(label), 0.0, tf.square(x - label))), tf.reduce_mean(tf.abs(x - label))
    for x, label in labelled_in_pairs(tf, np):
        error(x, label)


@program("data", "data")
def holes_that_stay(tf, np):
    """A sample is left out only if it holds nothing."""
    some = lambda x: tf.reduce_any(tf.math.is_finite(x))
    for batch in tf.data.Dataset.from_tensor_slices(with_holes(np)).filter(some).batch(4):
        tf.reduce_sum(batch)


@program("data", "data")
def holes_in_a_mean(tf, np):
    """They are filled, but not where the mean is taken."""
    fill = lambda x: tf.where(tf.math.is_nan(x), tf.reduce_mean(x), x)
    for batch in tf.data.Dataset.from_tensor_slices(with_holes(np)).map(fill).batch(4):
        tf.reduce_sum(batch)


@program("Const", "const", alone=True)
def rows_of_frozen_weights(tf, np):
    """A row of a constant table is NaN; those that are looked up are not."""
    table = np.ones([6, 4], np.float32)
    table[3] = np.nan

    @tf.function
    def look_up(ids):
        return tf.reduce_sum(tf.gather(tf.constant(table), ids))
    look_up(tf.constant([1, 2]))
    look_up(tf.constant([0, 5]))


def main():
    out = sys.argv[1]
    only = sys.argv[2:]
    import numpy as np
    import tensorflow as tf
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    for name, function in PROGRAMS.items():
        if only and name not in only:
            continue
        full = os.path.join(out, f"{name}.{FULL}")
        tf.debugging.experimental.enable_dump_debug_info(full, tensor_debug_mode=FULL, circular_buffer_size=EXPECTED[name]["ring"])
        function(tf, np)
        tf.debugging.experimental.disable_dump_debug_info()
        for mode in BOTH:
            copy_as(full, os.path.join(out, f"{name}.{mode}"), mode)


if __name__ == "__main__":
    main()
