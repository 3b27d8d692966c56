"""Ops that fail together with their own gradients, in functions inside a step: the forward op is the cause. What happens in
one call must not excuse what happens in the next."""
from real_registry import descend, program


@program("RealDiv", causes=1)
def normal_likelihood(tf, np):
    """A normal distribution whose deviation underflowed: divided by, and its logarithm taken."""
    mean = tf.Variable(0.0)
    log_deviation = tf.Variable(-200.0)
    samples = tf.constant(np.random.RandomState(0).randn(100).astype("float32"))

    @tf.function
    def likelihood():
        deviation = tf.exp(log_deviation)
        z = (samples - mean) / deviation  # culprit
        return tf.reduce_mean(0.5 * z * z + tf.math.log(deviation))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = likelihood()
        for variable, gradient in zip((mean, log_deviation), tape.gradient(loss, [mean, log_deviation])):
            variable.assign_sub(0.1 * gradient)
        return loss

    for _ in range(3):
        step()


@program("Acos", causes=1)
def angles(tf, np):
    """Cosines that are a little above 1."""
    vectors = tf.Variable(np.random.RandomState(0).randn(50, 3).astype("float32"))

    @tf.function
    def angle(v):
        unit = v / tf.norm(v, axis=1, keepdims=True)
        return tf.acos(tf.reduce_sum(unit * unit, axis=1) * 1.0000005)  # culprit

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(angle(vectors))
        return tape.gradient(loss, vectors)

    step()


@program("Pow", causes=1)
def root_of_weights(tf, np):
    """A power that is no whole number, of weights that are not all positive; its gradient is another power."""
    weights = tf.Variable([0.5, 0.1, -0.2])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.pow(weights, 1.5))  # culprit
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        step()


@program(("Softmax", "Const"), share=0.7)
def masked_rows(tf, np):
    """Attention whose mask leaves something of every row in one batch, and nothing of a row in the next."""
    query = tf.Variable(np.random.RandomState(0).randn(2, 5, 4).astype("float32"))

    @tf.function
    def attention(mask):
        scores = tf.matmul(query, query, transpose_b=True)
        scores = tf.where(mask[:, None, :], scores, -np.inf)  # culprit
        weights = tf.nn.softmax(scores)  # culprit
        return tf.reduce_sum(tf.matmul(weights, query))

    attention(tf.constant([[True] * 5, [True] * 3 + [False] * 2]))
    with tf.GradientTape() as tape:
        loss = attention(tf.constant([[True] * 5, [False] * 5]))
    tape.gradient(loss, query)


@program("Log", share=0.02, causes=1, followers=3)
def nested_tapes(tf, np):
    """A differential equation of second order whose solution is a function. Of gradients that TensorFlow differentiates again
    it records nothing: what comes out of them bad came later, and may follow."""
    random = np.random.RandomState(0)
    variables = [tf.Variable(random.randn(*shape).astype("float32") * 0.5) for shape in ((1, 8), (8, 8), (8, 1))]

    @tf.function
    def solution(x):
        hidden = tf.tanh(tf.matmul(x, variables[0]))
        hidden = tf.tanh(tf.matmul(hidden, variables[1]))
        return tf.square(tf.matmul(hidden, variables[2]))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = solution(x)
                slope = first.gradient(y, x)
            curvature = second.gradient(slope, x)
            entropy = y * tf.math.log(y)  # culprit
            loss = tf.reduce_mean(tf.square(curvature + y)) + 0.1 * tf.reduce_mean(entropy)
        descend(tape, loss, variables, 0.01)

    for i in range(4):
        x = random.rand(16, 1).astype("float32") + 0.2
        if i == 2:
            x[3] = 0.0
        step(tf.constant(x))
