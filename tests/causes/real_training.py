"""Programs that train a model, as their users write them."""
from real_registry import program


def digits(np, n=100):
    """Images of random bytes, with labels."""
    random = np.random.RandomState(0)
    return random.randint(0, 256, [n, 28, 28]).astype(np.int32), random.randint(0, 10, [n]).astype(np.int32)


def train_digits(tf, np, loss, max_steps, update_in_function=False):
    """A classifier of two layers, trained with a learning rate that is far too large."""
    @tf.function
    def format_example(images, labels):
        flat = tf.cast(tf.reshape(images, [-1, 784]), tf.float32) / 255.0
        return flat, tf.one_hot(labels, depth=10, dtype=tf.float32)

    def batches(n, size):
        dataset = tf.data.Dataset.from_tensor_slices(digits(np, n)).repeat().batch(size).map(format_example)
        return iter(dataset.prefetch(1))

    def weights(inputs, outputs):
        kernel = tf.Variable(tf.random.truncated_normal([inputs, outputs], stddev=0.1, seed=42))
        return kernel, tf.Variable(tf.fill([outputs], 0.1))

    hidden_weights, output_weights = weights(784, 500), weights(500, 10)

    @tf.function
    def dense_layer(weights, input_tensor, act=tf.nn.relu):
        kernel, bias = weights
        return act(tf.matmul(input_tensor, kernel) + bias)

    @tf.function
    def model(x):
        hidden = dense_layer(hidden_weights, x)
        logits = dense_layer(output_weights, hidden, tf.identity)
        return tf.nn.softmax(logits)

    train, test = batches(1000, 100), batches(100, 100)
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.025)
    variables = hidden_weights + output_weights

    def update(gradients):
        optimizer.apply_gradients(zip(gradients, variables))

    if update_in_function:
        optimizer.build(variables)
        update = tf.function(update)
    for _ in range(max_steps):
        x_train, y_train = next(train)
        x_test, y_test = next(test)
        with tf.GradientTape() as tape:
            value = loss(model(x_train), y_train)
        update(tape.gradient(value, variables))
        right = tf.equal(tf.argmax(model(x_test), 1), tf.argmax(y_test, 1))
        tf.reduce_mean(tf.cast(right, tf.float32))


@program("Log", share=1.0, causes=1)
def tutorial(tf, np):
    """The program of the debugger's tutorial."""
    @tf.function
    def loss(probs, labels):
        diff = -labels * tf.math.log(probs)  # culprit
        return tf.reduce_mean(diff)
    train_digits(tf, np, loss, 6)


@program(("Log", "__forward_loss"), ring=1000, unknown_in=("CONCISE_HEALTH", "CURT_HEALTH"))
def tutorial_ring(tf, np):
    """The same with the default ring: the rows in which it began are lost, the calls are not.
    Without counts only the call can be named."""
    @tf.function
    def loss(probs, labels):
        diff = -labels * tf.math.log(probs)  # culprit
        return tf.reduce_mean(diff)
    train_digits(tf, np, loss, 12, update_in_function=True)


@program("ReadVariableOp", share=0.2, causes=3, ring=500)
def tutorial_ring_late(tf, np):
    """The same for longer: calls are lost too, and all that is left is that the weights were bad already."""
    @tf.function
    def loss(probs, labels):
        diff = -labels * tf.math.log(probs)
        return tf.reduce_mean(diff)
    train_digits(tf, np, loss, 15)


@program("Log")
def keras_fit(tf, np):
    """A small convolutional network, its own loss, pixels that nobody scaled."""
    images, labels = digits(np, 64)

    def likelihood(y_true, y_pred):
        chosen = tf.reduce_sum(y_true * y_pred, axis=-1)
        return -tf.reduce_mean(tf.math.log(chosen))  # culprit

    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(4),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile(optimizer="adam", loss=likelihood, metrics=["accuracy"])
    model.fit(images[..., None].astype("float32"), np.eye(10, dtype="float32")[labels], batch_size=16, epochs=2, verbose=0)


@program("Square")
def mixed_precision(tf, np):
    """float16 with a loss scale; the error of an unscaled target does not fit."""
    random = np.random.RandomState(0)
    x = random.rand(32, 8).astype("float32")
    y = (x.sum(-1, keepdims=True) * 200.0).astype("float32")
    w1 = tf.Variable(random.randn(8, 16).astype("float32") * 0.1)
    w2 = tf.Variable(random.randn(16, 1).astype("float32") * 0.1)
    scale = tf.Variable(128.0, trainable=False)
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([w1, w2])

    def forward(x):
        hidden = tf.nn.relu(tf.matmul(tf.cast(x, tf.float16), tf.cast(w1, tf.float16)))
        return tf.matmul(hidden, tf.cast(w2, tf.float16))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            error = forward(x) - tf.cast(y, tf.float16)
            loss = tf.reduce_mean(tf.cast(tf.square(error), tf.float32))  # culprit
            scaled = loss * scale
        gradients = [g / scale for g in tape.gradient(scaled, [w1, w2])]
        finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients])
        if finite and tf.math.is_finite(loss):
            optimizer.apply_gradients(zip(gradients, [w1, w2]))
        else:
            scale.assign(scale / 2.0)
        return loss

    for i in range(4):
        train_step(tf.constant(x[i * 8:i * 8 + 8]), tf.constant(y[i * 8:i * 8 + 8]))


@program("SqrtGrad")
def gradient_accumulation(tf, np):
    """Metric learning over micro-batches; one pair is the same sample twice, and the gradient of its distance is infinite."""
    random = np.random.RandomState(0)
    left, right = random.randn(24, 6).astype("float32"), random.randn(24, 6).astype("float32")
    right[13] = left[13]
    w = tf.Variable(random.randn(6, 3).astype("float32"))
    b = tf.Variable(tf.zeros([3]))
    variables = [w, b]
    sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
    optimizer = tf.keras.optimizers.SGD(0.05)

    def embed(x):
        return tf.tanh(tf.matmul(x, w) + b)

    @tf.function
    def accumulate(left, right):
        with tf.GradientTape() as tape:
            distance = tf.sqrt(tf.reduce_sum(tf.square(embed(left) - embed(right)), axis=-1))  # culprit
            loss = tf.reduce_mean(tf.nn.relu(distance - 0.5)) + tf.reduce_mean(distance)
        for total, gradient in zip(sums, tape.gradient(loss, variables)):
            total.assign_add(gradient)
        return loss

    @tf.function
    def apply():
        for v, total in zip(variables, sums):
            v.assign_sub(0.05 * total / 3.0)
            total.assign(tf.zeros_like(total))

    for i in range(0, 24, 4):
        accumulate(tf.constant(left[i:i + 4]), tf.constant(right[i:i + 4]))
        if i % 12 == 8:
            apply()


@program("Log")
def mirrored(tf, np):
    """Two replicas; a sample of the second one is far out, and its softmax underflows."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    random = np.random.RandomState(0)
    x = random.randn(32, 5).astype("float32")
    x[21] *= 1000.0
    y = np.eye(3, dtype="float32")[random.randint(0, 3, [32])]
    with strategy.scope():
        w = tf.Variable(random.randn(5, 3).astype("float32"))
        b = tf.Variable(tf.zeros([3]))
        optimizer = tf.keras.optimizers.SGD(0.1)
        optimizer.build([w, b])
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(8))

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probs = tf.nn.softmax(tf.matmul(x, w) + b)
            likelihood = tf.math.log(probs)  # culprit
            loss = -tf.reduce_mean(tf.reduce_sum(y * likelihood, axis=-1))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
        return loss

    @tf.function
    def train_step(x, y):
        losses = strategy.run(replica_step, args=(x, y))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    for x, y in dataset:
        train_step(x, y)


@program("RealDiv")
def parallel_map(tf, np):
    """Samples are standardised by a parallel map; one of them is constant."""
    random = np.random.RandomState(0)
    images = random.rand(24, 4, 4).astype("float32")
    images[13] = 0.25
    targets = random.rand(24, 1).astype("float32")

    def standardise(image, target):
        centred = image - tf.reduce_mean(image)
        spread = tf.sqrt(tf.reduce_mean(tf.square(centred)))
        return tf.reshape(centred / spread, [16]), target  # culprit

    dataset = tf.data.Dataset.from_tensor_slices((images, targets))
    dataset = dataset.map(standardise, num_parallel_calls=4).batch(4).prefetch(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.build([None, 16])
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for x, y in dataset:
        train_step(x, y)
