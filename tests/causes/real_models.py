"""Programs of further kinds: generative models, pipelines from Python, sparse gradients, TensorFlow 1. Each has one culprit."""
from real_registry import descend, program


@program("Log")
def gan(tf, np):
    """Two networks, two tapes; the discriminator saturates, and its sigmoid is 0."""
    random = np.random.RandomState(0)
    generator = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(4)])
    discriminator = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    generator.build([None, 3])
    discriminator.build([None, 4])
    discriminator.set_weights([np.ones_like(w) for w in discriminator.get_weights()[:1]] + discriminator.get_weights()[1:2] +
                              [np.full_like(w, -1.0) for w in discriminator.get_weights()[2:3]] + discriminator.get_weights()[3:])
    g_optimizer, d_optimizer = tf.keras.optimizers.Adam(0.01), tf.keras.optimizers.Adam(0.01)
    g_optimizer.build(generator.trainable_variables)
    d_optimizer.build(discriminator.trainable_variables)

    @tf.function
    def train_step(real, noise):
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            p_real = tf.sigmoid(discriminator(real))
            p_fake = tf.sigmoid(discriminator(generator(noise)))
            d_loss = -tf.reduce_mean(tf.math.log(p_real)) - tf.reduce_mean(tf.math.log(1.0 - p_fake))  # culprit
            g_loss = tf.reduce_mean(tf.math.log(1.0 - p_fake))
        g_optimizer.apply_gradients(zip(g_tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
        d_optimizer.apply_gradients(
            zip(d_tape.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables))
        return d_loss, g_loss

    for step in range(4):
        real = np.full([6, 4], 100.0 if step == 2 else 0.1, "float32")
        train_step(tf.constant(real), tf.constant(random.randn(6, 3).astype("float32")))


@program("Exp")
def vae(tf, np):
    """A variational autoencoder; the log-variance of an outlier is too large for exp."""
    random = np.random.RandomState(0)
    w_in = tf.Variable(random.randn(6, 8).astype("float32") * 0.3)
    w_mean = tf.Variable(random.randn(8, 2).astype("float32") * 0.3)
    w_logvar = tf.Variable(random.randn(8, 2).astype("float32") * 0.3)
    w_out = tf.Variable(random.randn(2, 6).astype("float32") * 0.3)
    variables = [w_in, w_mean, w_logvar, w_out]
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(variables)

    def encode(x):
        hidden = tf.nn.relu(tf.matmul(x, w_in))
        return tf.matmul(hidden, w_mean), tf.matmul(hidden, w_logvar)

    def sample(mean, deviation):
        return mean + deviation * tf.random.normal(tf.shape(mean))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            mean, logvar = encode(x)
            variance = tf.exp(logvar)  # culprit
            decoded = tf.matmul(sample(mean, tf.sqrt(variance)), w_out)
            divergence = -0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mean) - variance, axis=1)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(decoded - x), axis=1) + divergence)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    for step in range(4):
        x = random.rand(5, 6).astype("float32")
        if step == 2:
            x[3] *= 2000.0
        train_step(tf.constant(x))


@program("Log", share=0.8)
def beam_search(tf, np):
    """Scores of beams in a tf.while_loop; a transition that is forbidden has probability 0."""
    random = np.random.RandomState(0)
    table = random.rand(5, 5).astype("float32") + 0.1
    table[2, 3] = 0.0
    transition = tf.constant(table)

    @tf.function
    def decode(start, steps):
        def body(step, beams, scores):
            probabilities = tf.gather(transition, beams)
            log_p = tf.math.log(probabilities / tf.reduce_sum(probabilities, -1, keepdims=True))  # culprit
            total = tf.reshape(scores[:, None] - log_p, [-1])
            best, index = tf.math.top_k(total, k=3)
            return step + 1, index % 5, best

        scores = tf.zeros([3])
        _, beams, scores = tf.while_loop(lambda step, beams, scores: step < steps, body, [0, start, scores])
        return beams, tf.nn.softmax(scores)

    for steps in (2, 4):
        decode(tf.constant([0, 1, 2]), tf.constant(steps))


@program("RealDiv")
def functional_model(tf, np):
    """A functional model with a layer and a train_step of its own; the layer normalises rows, and one row is zero."""
    class Normalise(tf.keras.layers.Layer):
        def call(self, x):
            return x / tf.reduce_max(tf.abs(x), axis=-1, keepdims=True)  # culprit

    class Model(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return {"loss": loss}

    inputs = tf.keras.Input([5])
    hidden = tf.keras.layers.Dense(6, activation="relu")(Normalise()(inputs))
    outputs = tf.keras.layers.Dense(2)(tf.keras.layers.Concatenate()([hidden, inputs]))
    model = Model(inputs, outputs)
    model.compile(optimizer="sgd", loss="mse")
    random = np.random.RandomState(0)
    x = random.randn(24, 5).astype("float32")
    x[17] = 0.0
    model.fit(x, random.randn(24, 2).astype("float32"), batch_size=4, epochs=2, shuffle=False, verbose=0)


@program("Log1p")
def generator_pipeline(tf, np):
    """Samples come from a Python generator and are compressed by log1p; one is below −1."""
    random = np.random.RandomState(0)

    def samples():
        for i in range(20):
            yield random.rand(4).astype("float32") * (-3.0 if i == 11 else 2.0)

    def compress(x):
        return tf.math.log1p(x)  # culprit

    dataset = tf.data.Dataset.from_generator(samples, output_signature=tf.TensorSpec([4], tf.float32))
    dataset = dataset.map(compress).batch(4)
    w = tf.Variable(random.randn(4, 1).astype("float32"))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        descend(tape, loss, [w])
        return loss

    for x in dataset:
        train_step(x)


@program("Rsqrt")
def embedding(tf, np):
    """Embeddings with sparse gradients and cosine similarity; one word's vector is zero."""
    random = np.random.RandomState(0)
    table = random.randn(12, 4).astype("float32")
    table[7] = 0.0
    table = tf.Variable(table)

    def unit(x):
        return x * tf.math.rsqrt(tf.reduce_sum(tf.square(x), axis=-1, keepdims=True))  # culprit

    @tf.function
    def train_step(left, right, label):
        with tf.GradientTape() as tape:
            cosine = tf.reduce_sum(unit(tf.gather(table, left)) * unit(tf.gather(table, right)), axis=-1)
            loss = tf.reduce_mean(tf.square(cosine - label))
        gradient = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
        return loss

    for step in range(4):
        left = random.randint(0, 7, [5])
        right = random.randint(8, 12, [5])
        if step == 1:
            left[2] = 7
        train_step(tf.constant(left), tf.constant(right), tf.ones([5]))


@program(("Sqrt", "StridedSlice"))
def vectorized(tf, np):
    """Per-sample spread by tf.vectorized_map, as the difference of moments, which cancels below zero. TensorFlow records none
    of the ops that vectorized_map makes, so that the first tensor on record is the one that uses its result."""
    @tf.function
    def spread(batch):
        def one(x):
            variance = tf.reduce_mean(tf.square(x)) - tf.square(tf.reduce_mean(x)) - 1e-3
            return tf.sqrt(variance)  # culprit
        return tf.vectorized_map(one, batch)

    random = np.random.RandomState(0)
    w = tf.Variable(random.randn(6, 1).astype("float32"))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            scaled = x / spread(x)[:, None]  # culprit
            loss = tf.reduce_mean(tf.square(tf.matmul(scaled, w)))
        descend(tape, loss, [w])
        return loss

    for step in range(4):
        x = random.randn(5, 6).astype("float32")
        if step == 2:
            x[1] = 3.0
        train_step(tf.constant(x))


@program("RealDiv")
def recompute(tf, np):
    """A block that is computed again for its gradient; it divides by a sum that is 0 where no unit fires."""
    random = np.random.RandomState(0)
    w1 = tf.Variable(random.randn(4, 6).astype("float32"))
    w2 = tf.Variable(random.randn(6, 2).astype("float32"))

    @tf.recompute_grad
    def block(x):
        hidden = tf.nn.relu(tf.matmul(x, w1))
        return hidden / tf.reduce_sum(hidden, axis=-1, keepdims=True)  # culprit

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(block(x), w2) - y))
        descend(tape, loss, [w1, w2])
        return loss

    for step in range(4):
        x = random.randn(5, 4).astype("float32")
        if step == 2:
            x[0] = 0.0
        train_step(tf.constant(x), tf.zeros([5, 2]))


@program("RealDiv")
def session_loop(tf, np):
    """TensorFlow 1: a power iteration in a while_loop, whose vector is in the null space of the matrix."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        matrix = v1.placeholder(tf.float32, [3, 3])
        start = v1.placeholder(tf.float32, [3, 1])

        def body(i, v):
            product = tf.matmul(matrix, v)
            return i + 1, product / tf.norm(product)  # culprit

        _, vector = tf.while_loop(lambda i, v: i < 4, body, [0, start])
        value = tf.reduce_sum(vector * tf.matmul(matrix, vector)) * 2.0
        with v1.Session() as session:
            for first in ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]):
                session.run(value, {matrix: np.diag([2.0, 1.0, 0.0]).astype("float32"), start: np.array([first]).T})
