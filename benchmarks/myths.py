"""What is said of TensorFlow's memory, tried: prints the figures of `docs/myths.md`.

Each line is two small programs or more, each run in a process of its own, on one thread, with
TensorFlow's allocator counting. `--only WORD` runs the lines whose name has it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

MB = 1 << 20

BEGIN = """
import gc, json, os, time
import numpy as np
import tensorflow as tf

case = os.environ["CASE"]
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)
"""
WARM = """
tf.raw_ops.Empty(shape=[1 << 28], dtype=tf.float32, init=False)  # 1 GiB that is never written to


def now():
    gc.collect()
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


def resident():
    gc.collect()
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


begun = now()
tf.config.experimental.reset_memory_stats("CPU:0")
found = {}
"""
END = """
found["peak"] = tf.config.experimental.get_memory_info("CPU:0")["peak"] - begun
print(json.dumps(found))
"""

PREFETCH = """
def image(seed):
    return tf.random.stateless_uniform([256, 256, 4], seed=[seed, 0])


images = tf.data.Dataset.range(256).map(image).batch(8)  # 8 MiB a batch
options = tf.data.Options()
options.experimental_optimization.inject_prefetch = False
images = images.with_options(options)
if case != "none":
    images = images.prefetch(tf.data.AUTOTUNE if case == "AUTOTUNE" else int(case))
for batch in images:
    time.sleep(0.1)
"""
AUTOTUNED = """
def image(seed):
    return tf.random.stateless_uniform([256, 256, 4], seed=[seed, 0])


calls = {"one by one": None, "AUTOTUNE": tf.data.AUTOTUNE, "64": 64}[case]
for batch in tf.data.Dataset.range(256).map(image, num_parallel_calls=calls).batch(8):
    time.sleep(0.1)
"""
SLICES = """
rows = np.ones([16 << 10, 1 << 10], np.float32)  # 64 MiB
before = now()
if case == "from_tensor_slices":
    batches = tf.data.Dataset.from_tensor_slices(rows).batch(32)
else:
    batches = (rows[i : i + 32] for i in range(0, len(rows), 32))
found["held"] = now() - before
for batch in batches:
    tf.reduce_mean(batch)
"""
MODELS = """
def network():
    layers = [tf.keras.layers.Dense(256) for _ in range(4)]
    model = tf.keras.Sequential([tf.keras.Input([256]), *layers])
    model.compile("adam", "mse")
    return model


x = tf.zeros([32, 256])
kept = network() if case.startswith("one") else None
held = []
for trial in range(10):
    model = kept or network()
    if case != "built only, nothing" and case != "built only, clear_session":
        model.fit(x, x, verbose=0)
    else:
        model(x)
    model = None
    if case.endswith("clear_session"):
        tf.keras.backend.clear_session()
    held.append(now())
found["a round"] = (held[-1] - held[3]) / (len(held) - 4)
"""
DELETED = """
layers = [tf.keras.layers.Dense(256) for _ in range(4)]
model = tf.keras.Sequential([tf.keras.Input([256]), *layers])
optimizer = tf.keras.optimizers.SGD()
held = []
begin = time.perf_counter()
for step in range(30):
    x = tf.random.stateless_normal([1024, 256], seed=[step, 0])
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = tf.reduce_mean(tf.square(predictions - x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if case != "nothing":
        del x, predictions, loss, gradients, tape
    if case == "del and gc.collect":
        gc.collect()
    held.append(tf.config.experimental.get_memory_info("CPU:0")["current"])
found["ms a step"] = (time.perf_counter() - begin) / 30 * 1000
found["a round"] = (held[-1] - held[5]) / (len(held) - 6)
"""
STEP = """
layers = [tf.keras.layers.Dense(256, activation="tanh") for _ in range(24)]
if case.startswith("mixed"):
    tf.keras.mixed_precision.set_global_policy(case)
    layers = [tf.keras.layers.Dense(256, activation="tanh") for _ in range(24)]
if case == "set_jit(True)":
    tf.config.optimizer.set_jit(True)
model = tf.keras.Sequential([tf.keras.Input([256]), *layers])
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
found["held"] = now() - begun


@tf.function(jit_compile=True if case == "jit_compile=True" else None)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.cast(model(x), tf.float32) - x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


with tf.device("/GPU:0" if case == "tf.device GPU" else "/CPU:0"):
    x = tf.random.stateless_normal([4096, 256], seed=[0, 0])  # 4 MiB an activation
    for _ in range(3):
        step(x)
"""
MIRRORED = """
count = 2 if case == "MirroredStrategy of 2" else 1
devices = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
found = {}
strategy = tf.distribute.MirroredStrategy([f"CPU:{each}" for each in range(count)])
with strategy.scope():
    dense = [tf.Variable(tf.zeros([1024, 1024])) for _ in range(8)]  # 4 MiB each
replicas = sum(len(strategy.experimental_local_results(each)) for each in dense)
found["weights"] = replicas * 4 * (1 << 20)
print(json.dumps(found))
"""
UNDERFLOW = """
tf.keras.mixed_precision.set_global_policy("mixed_float16")
tf.keras.utils.set_random_seed(0)
layers = [tf.keras.layers.Dense(256, activation="tanh") for _ in range(12)]
model = tf.keras.Sequential([tf.keras.Input([256]), *layers])
x = tf.random.stateless_normal([4096, 256], seed=[0, 0])
scale = 1.0 if case == "as it is" else 2.0**12
with tf.GradientTape() as tape:
    outputs = tf.cast(model(x), tf.float32)
    loss = scale * tf.reduce_mean(tf.square(outputs - 0.01 * tf.cast(x, tf.float32)))
gradients = tape.gradient(loss, model.trainable_variables)
lost = sum(int(tf.math.count_nonzero(each == 0)) for each in gradients)
found["lost"] = lost / sum(int(tf.size(each)) for each in gradients)
"""

STACKED = """
def product():
    return tf.matmul(x, kernel)


x, kernel = tf.ones([1024, 1024]), tf.ones([1024, 1024])  # 4 MiB each, and so is their product
if case == "loop":
    total = tf.zeros_like(x)
    for _ in range(100):
        intermediate = product()
        total = total + intermediate
elif case == "stack":
    total = tf.reduce_sum(tf.stack([product()] * 100), axis=0)
else:
    total = product() * 100.0
"""
RECOMPUTED = """
weights = [
    tf.Variable(tf.random.stateless_normal([256, 256], seed=[layer, 0], stddev=0.05))
    for layer in range(48)
]
size = {"as it is": 48, "as a whole": 48, "layer by layer": 1, "blocks of six": 6}[case]


def block_of(some):
    def block(x):
        for weight in some:
            x = tf.tanh(tf.matmul(x, weight))
        return x

    return block if case == "as it is" else tf.recompute_grad(block)


blocks = [block_of(weights[first : first + size]) for first in range(0, 48, size)]


@tf.function
def gradients_of(x):
    with tf.GradientTape() as tape:
        y = x
        for block in blocks:
            y = block(y)
        loss = tf.reduce_mean(tf.square(y - x))
    return tape.gradient(loss, weights)


x = tf.random.stateless_normal([4096, 256], seed=[0, 0])  # 4 MiB an activation
for _ in range(2):
    gradients = gradients_of(x)
"""
EPOCHS = """
rows = np.ones([16 << 10, 1 << 10], np.float32)  # 64 MiB


def batches():
    return tf.data.Dataset.from_tensor_slices(rows).batch(32).prefetch(tf.data.AUTOTUNE)


begin = time.process_time()
before = batches() if case == "made before the loops" else None
for epoch in range(6):
    for batch in before or batches():
        tf.reduce_mean(batch)
found["seconds"] = time.process_time() - begin
"""
ZEROS = """
def of_host(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
resident = of_host("VmRSS")
shape = [4096, 4096]  # 64 MiB of float32
kind, _, how = case.partition(", ")
make = {"zeros": np.zeros, "ones": np.ones}[kind]
array = make(shape, dtype=np.float32) if how == "as float32" else make(shape).astype(np.float32)
array += 1  # pages of zeros are not there before something is written to them
found["host peak"] = of_host("VmHWM") - resident
"""

OPTIMIZERS = """
layers = [tf.keras.layers.Dense(256) for _ in range(4)]
model = tf.keras.Sequential([tf.keras.Input([256]), *layers])  # 1 MiB of weights
kept, held, host = [], [], []
optimizer = tf.keras.optimizers.Adam()
for step in range(30):
    x = tf.random.stateless_normal([32, 256], seed=[step, 0])
    if case != "one":
        optimizer = tf.keras.optimizers.Adam()
    if case == "one a step, in a list":
        kept.append(optimizer)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    held.append(now())
    host.append(resident())
found["a round"] = (held[-1] - held[9]) / (len(held) - 10)
found["host a round"] = (host[-1] - host[9]) / (len(host) - 10)
"""
WRITERS = """
import tempfile

folder, held = tempfile.mkdtemp(), []
writer = tf.summary.create_file_writer(folder)
for step in range(300):
    if case != "one":
        writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=step)
    if case == "one a step, closed":
        writer.close()
    held.append(resident())
found["host a round"] = (held[-1] - held[99]) / (len(held) - 100)
found["open files"] = len(os.listdir("/proc/self/fd"))
"""
LAYERS = """
class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(512)

    def call(self, x):
        if case == "made once":
            return self.dense(x)
        return tf.keras.layers.Dense(512)(x)


block, held, host = Block(), [], []
for step in range(40):
    block(tf.ones([8, 512]))
    held.append(now())
    host.append(resident())
found["a round"] = (held[-1] - held[9]) / (len(held) - 10)
found["host a round"] = (host[-1] - host[9]) / (len(host) - 10)
"""
TAPES = """
weights = [tf.Variable(tf.random.stateless_normal([512, 512], [n, 0]) / 23) for n in range(12)]
x = tf.random.stateless_normal([1024, 512], [99, 0])


def forward(x):
    for weight in weights:
        x = tf.nn.relu(tf.matmul(x, weight))
    return tf.reduce_mean(tf.square(x))


if case.startswith("gradient"):
    with tf.GradientTape(persistent="persistent" in case) as tape:
        loss = forward(x)
        if "inside" in case:
            gradients = tape.gradient(loss, weights)
    if "inside" not in case:
        gradients = tape.gradient(loss, weights)
elif case == "nothing is asked of the tape":
    with tf.GradientTape() as tape:
        loss = forward(x)
elif case == "no tape":
    loss = forward(x)
else:
    with tf.GradientTape() as tape:
        loss = forward(x)
        if "inside" in case:
            check = forward(x * 0.5)
    gradients = tape.gradient(loss, weights)
    if "inside" not in case:
        check = forward(x * 0.5)
"""
METRICS = """
class Kept(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.all = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.all.append(y_pred)

    def result(self):
        return tf.reduce_mean(tf.concat(self.all, 0))


metric, held = Kept() if case == "keeps what it is given" else tf.keras.metrics.Mean(), []
for step in range(40):
    metric.update_state(tf.ones([1024, 256]), tf.ones([1024, 256]) * step)  # 1 MiB
    held.append(now())
found["a round"] = (held[-1] - held[9]) / (len(held) - 10)
"""
DEBUGGED = """
import sys

if case == "set_log_device_placement(True)":
    sys.stderr = open(os.devnull, "w")
    tf.debugging.set_log_device_placement(True)
elif case == "enable_check_numerics()":
    tf.debugging.enable_check_numerics()
elif case == "data.experimental.enable_debug_mode()":
    tf.data.experimental.enable_debug_mode()
weights = [tf.Variable(tf.random.stateless_normal([512, 512], [n, 0]) / 23) for n in range(12)]
images = tf.data.Dataset.range(64).map(lambda n: tf.ones([512]) * tf.cast(n, tf.float32))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        made = x
        for weight in weights:
            made = tf.nn.relu(tf.matmul(made, weight))
        loss = tf.reduce_mean(tf.square(made))
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.01 * gradient)


for x in images.batch(64).repeat(4):
    step(tf.repeat(x, 16, axis=0))
"""
DISTANCES = """
wide = int(case.split()[1])
rows = tf.random.stateless_normal([1024, wide], [0, 0])


def distances(rows):
    if case.endswith("broadcast") or case.endswith("broadcast, in a graph"):
        return tf.reduce_sum((rows[:, None, :] - rows[None, :, :]) ** 2, -1)
    squares = tf.reduce_sum(rows**2, -1)
    product = tf.matmul(rows, rows, transpose_b=True)
    return tf.maximum(squares[:, None] - 2.0 * product + squares[None, :], 0.0)


if case.endswith("in a graph"):
    distances = tf.function(distances)
made = distances(rows)
"""
CALLBACKS = """
class Keeps(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.kept = []

    def on_epoch_end(self, epoch, logs=None):
        if case == "get_weights() of each epoch":
            self.kept.append(self.model.get_weights())
        host.append(resident())


host = []
layers = [tf.keras.layers.Dense(512) for _ in range(4)]
model = tf.keras.Sequential([tf.keras.Input([512]), *layers])  # 4 MiB of weights
model.compile("sgd", "mse")
model.fit(tf.ones([32, 512]), tf.ones([32, 512]), epochs=20, verbose=0, callbacks=[Keeps()])
found["host a round"] = (host[-1] - host[4]) / (len(host) - 5)
"""

LINES = {
    "prefetch": (PREFETCH, ["none", "1", "AUTOTUNE", "16"], True),
    "num_parallel_calls": (AUTOTUNED, ["one by one", "AUTOTUNE", "64"], True),
    "from_tensor_slices": (SLICES, ["slices in Python", "from_tensor_slices"], True),
    "clear_session": (
        MODELS,
        [
            *("trained, nothing", "trained, clear_session", "one model, trained again"),
            *("built only, nothing", "built only, clear_session"),
        ],
        True,
    ),
    "del": (DELETED, ["nothing", "del", "del and gc.collect"], True),
    "XLA": (STEP, ["as it is", "set_jit(True)", "jit_compile=True"], True),
    "mixed precision": (STEP, ["as it is", "mixed_float16", "mixed_bfloat16"], True),
    "device": (STEP, ["as it is", "tf.device GPU"], True),
    "MirroredStrategy": (MIRRORED, ["one device", "MirroredStrategy of 2"], False),
    "loss scale": (UNDERFLOW, ["as it is", "times 4096"], True),
    "stack": (STACKED, ["loop", "stack", "product times 100"], True),
    "recompute": (RECOMPUTED, ["as it is", "as a whole", "layer by layer", "blocks of six"], True),
    "pipeline in epochs": (EPOCHS, ["made in the header", "made before the loops"], True),
    "optimizer": (OPTIMIZERS, ["one", "one a step", "one a step, in a list"], True),
    "summary writer": (WRITERS, ["one", "one a step", "one a step, closed"], True),
    "layer": (LAYERS, ["made once", "made in each call"], True),
    "tape": (
        TAPES,
        [
            "gradient outside",
            "gradient inside",
            "gradient outside, persistent",
            "gradient inside, persistent",
            "no tape",
            "nothing is asked of the tape",
            "a check outside",
            "a check inside",
        ],
        True,
    ),
    "metric": (METRICS, ["keeps a mean", "keeps what it is given"], True),
    "debugging": (
        DEBUGGED,
        [
            "nothing",
            "set_log_device_placement(True)",
            "enable_check_numerics()",
            "data.experimental.enable_debug_mode()",
        ],
        True,
    ),
    "distances": (
        DISTANCES,
        [
            f"of {wide} {how}"
            for wide in (3, 64)
            for how in ("broadcast", "broadcast, in a graph", "product", "product, in a graph")
        ],
        True,
    ),
    "callback": (CALLBACKS, ["keeps nothing", "get_weights() of each epoch"], True),
    "zeros": (
        ZEROS,
        ["zeros, cast", "zeros, as float32", "ones, cast", "ones, as float32"],
        True,
    ),
}


def measured(program: str, case: str, *, warm: bool) -> dict[str, float]:
    """What one program prints, run by itself."""
    settings = {
        "CASE": case,
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
    source = BEGIN + (WARM if warm else "") + program + (END if warm else "")
    command = [sys.executable, "-c", source]
    ran = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        sys.exit(f"{case}: {ran.stderr[-2000:]}")
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def shown(found: dict[str, float]) -> str:
    """The figures of one program, each with its unit."""
    parts: list[str] = []
    for name, figure in found.items():
        if name == "ms a step":
            parts.append(f"{figure:.0f} ms a step")
        elif name == "lost":
            parts.append(f"{figure:.0%} of gradients are zero")
        elif name == "seconds":
            parts.append(f"{figure:.1f} s of a processor")
        elif name.endswith("a round"):
            parts.append(f"{name.removesuffix('a round')}{figure / 1024:,.0f} KB a round")
        elif name == "open files":
            parts.append(f"{figure:.0f} open files")
        else:
            parts.append(f"{name} {figure / MB:.0f} MB")
    return ", ".join(parts)


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="the lines whose name has this")
    options = parser.parse_args()
    for name, (program, cases, warm) in LINES.items():
        if options.only in name:
            for case in cases:
                figures = shown(measured(program, case, warm=warm))
                print(f"| {name} | {case} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
