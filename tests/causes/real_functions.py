"""Programs with loops, nested functions and gradients of their own, as their users write them."""
from real_registry import descend, program


@program("RealDiv")
def rnn(tf, np):
    """A recurrent net written with a TensorArray; the state is normalised, and is zero while a sequence is padding."""
    random = np.random.RandomState(0)
    w = tf.Variable(random.randn(3, 6).astype("float32"))
    u = tf.Variable(random.randn(6, 6).astype("float32"))
    head = tf.Variable(random.randn(6, 1).astype("float32"))
    variables = [w, u, head]
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(variables)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            steps = tf.shape(x)[1]
            outputs = tf.TensorArray(tf.float32, size=steps)
            state = tf.zeros([tf.shape(x)[0], 6])
            for t in tf.range(steps):
                state = tf.nn.relu(tf.matmul(x[:, t], w) + tf.matmul(state, u))
                state = state / tf.norm(state, axis=-1, keepdims=True)  # culprit
                outputs = outputs.write(t, state)
            hidden = tf.transpose(outputs.stack(), [1, 0, 2])
            prediction = tf.matmul(tf.reduce_mean(hidden, axis=1), head)
            loss = tf.reduce_mean(tf.square(prediction - y))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    for step in range(4):
        x = random.rand(4, 5, 3).astype("float32") + 0.5
        if step == 2:
            x[1, :2] = 0.0
        train_step(tf.constant(x), tf.constant(random.rand(4, 1).astype("float32")))


@program("RealDiv")
def pooled_sequence(tf, np):
    """A keras recurrent layer, pooled over what is not padding; one sequence is all padding."""
    random = np.random.RandomState(0)
    layer = tf.keras.layers.GRU(5, return_sequences=True)
    head = tf.keras.layers.Dense(1)
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def train_step(x, mask, y):
        with tf.GradientTape() as tape:
            hidden = layer(x, mask=mask > 0.0)
            total = tf.reduce_sum(hidden * mask[..., None], axis=1)
            pooled = total / tf.reduce_sum(mask, axis=1, keepdims=True)  # culprit
            loss = tf.reduce_mean(tf.square(head(pooled) - y))
        variables = layer.trainable_variables + head.trainable_variables
        descend(tape, loss, variables)
        return loss

    layer(tf.zeros([2, 4, 3]))
    head(tf.zeros([2, 5]))
    optimizer.build(layer.trainable_variables + head.trainable_variables)
    for step in range(4):
        mask = np.ones([3, 4], "float32")
        mask[0, 2:] = 0.0
        if step >= 2:
            mask[1] = 0.0
        train_step(tf.constant(random.rand(3, 4, 3).astype("float32")), tf.constant(mask), tf.ones([3, 1]))


@program("RealDiv")
def transformer(tf, np):
    """A block with a causal mask of −∞, which is meant, and a layer norm without ε, which meets a row of padding."""
    random = np.random.RandomState(0)

    def variable(*shape):
        return tf.Variable(random.randn(*shape).astype("float32") * 0.3)

    table, wq, wk, wv, wo = variable(11, 8), variable(8, 8), variable(8, 8), variable(8, 8), variable(8, 8)
    w1, w2 = variable(8, 16), variable(16, 8)
    table.assign(tf.tensor_scatter_nd_update(table, [[0]], tf.zeros([1, 8])))
    variables = [table, wq, wk, wv, wo, w1, w2]
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(variables)

    def norm(x):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) / tf.sqrt(variance)  # culprit

    def attention(x):
        def heads(w):
            return tf.transpose(tf.reshape(tf.matmul(x, w), [tf.shape(x)[0], -1, 2, 4]), [0, 2, 1, 3])
        q, k, v = heads(wq), heads(wk), heads(wv)
        scores = tf.matmul(q, k, transpose_b=True) / 2.0
        causal = tf.linalg.band_part(tf.ones_like(scores), -1, 0) > 0.0
        scores = tf.where(causal, scores, -np.inf)
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
        return tf.matmul(tf.reshape(mixed, tf.shape(x)), wo)

    @tf.function
    def train_step(tokens):
        with tf.GradientTape() as tape:
            x = tf.gather(table, tokens)
            x = x + attention(norm(x))
            x = x + tf.matmul(tf.nn.gelu(tf.matmul(norm(x), w1)), w2)
            logits = tf.matmul(x[:, :-1], table, transpose_b=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits))
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    table.assign(tf.random.normal([11, 8], seed=1))
    for step in range(3):
        tokens = random.randint(1, 11, [2, 6])
        if step == 1:
            table.assign(tf.tensor_scatter_nd_update(table, [[0]], tf.zeros([1, 8])))
            tokens[1, 4:] = 0
        train_step(tf.constant(tokens))


@program("RealDiv")
def three_deep(tf, np):
    """Functions in functions in functions, under a tape outside them all."""
    random = np.random.RandomState(0)
    w1 = tf.Variable(random.randn(4, 6).astype("float32"))
    w2 = tf.Variable(random.randn(6, 6).astype("float32"))
    w3 = tf.Variable(random.randn(6, 2).astype("float32"))
    variables = [w1, w2, w3]

    @tf.function
    def shares(x):
        return x / tf.reduce_sum(x, axis=-1, keepdims=True)  # culprit

    @tf.function
    def block(x, w):
        return shares(tf.nn.relu(tf.matmul(x, w)))

    @tf.function
    def encoder(x):
        return block(block(x, w1), w2)

    @tf.function
    def predict(x):
        return tf.nn.softmax(tf.matmul(encoder(x) - 0.1, w3))

    for step in range(4):
        x = np.abs(random.randn(5, 4)).astype("float32")
        if step == 2:
            x[3] = 0.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(predict(tf.constant(x)) - tf.one_hot([0, 1, 0, 1, 0], 2)))
        descend(tape, loss, variables, 0.5)


@program("Log")
def nested_in_step(tf, np):
    """A train step that is a function, with its tape inside, calls a model and a loss that are functions."""
    random = np.random.RandomState(0)
    w1 = tf.Variable(random.randn(4, 8).astype("float32"))
    w2 = tf.Variable(random.randn(8, 3).astype("float32"))
    variables = [w1, w2]

    @tf.function
    def hidden(x):
        return tf.nn.relu(tf.matmul(x, w1))

    @tf.function
    def model(x):
        return tf.nn.softmax(tf.matmul(hidden(x), w2))

    @tf.function
    def likelihood(probs, labels):
        return -tf.reduce_mean(labels * tf.math.log(probs))  # culprit

    @tf.function
    def train_step(x, labels):
        with tf.GradientTape() as tape:
            loss = likelihood(model(x), labels)
        descend(tape, loss, variables)
        return loss

    for step in range(5):
        x = random.randn(6, 4).astype("float32") * (200.0 if step == 2 else 1.0)
        train_step(tf.constant(x), tf.one_hot(random.randint(0, 3, [6]), 3))


@program("RealDiv")
def custom_gradient(tf, np):
    """A smooth absolute value with a gradient of its own, which divides by the value."""
    random = np.random.RandomState(0)
    w = tf.Variable(random.randn(5, 4).astype("float32"))
    head = tf.Variable(random.randn(4, 1).astype("float32"))
    variables = [w, head]

    @tf.custom_gradient
    def magnitude(x):
        size = tf.abs(x)

        def gradient(upstream):
            direction = x / size  # culprit
            return upstream * direction
        return size, gradient

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(magnitude(tf.matmul(x, w)), head) - y))
        descend(tape, loss, variables)
        return loss

    for step in range(4):
        x = random.randn(6, 5).astype("float32")
        if step == 1:
            x[2] = 0.0
        train_step(tf.constant(x), tf.constant(random.randn(6, 1).astype("float32")))


@program("Log")
def map_fn(tf, np):
    """The entropy of each sample by tf.map_fn; a class that never occurs has probability 0."""
    random = np.random.RandomState(0)
    w = tf.Variable(random.randn(4, 3).astype("float32"))

    def entropy(counts):
        p = counts / tf.reduce_sum(counts)
        return -tf.reduce_sum(p * tf.math.log(p))  # culprit

    @tf.function
    def train_step(x, counts):
        with tf.GradientTape() as tape:
            weights = tf.map_fn(entropy, counts)
            scores = tf.reduce_max(tf.matmul(x, w), axis=-1)
            loss = tf.reduce_mean(tf.square(scores - 1.0) * weights)
        descend(tape, loss, [w])
        return loss

    for step in range(4):
        counts = random.randint(1, 9, [6, 5]).astype("float32")
        if step == 2:
            counts[4, 1] = 0.0
        train_step(tf.constant(random.randn(6, 4).astype("float32")), tf.constant(counts))
