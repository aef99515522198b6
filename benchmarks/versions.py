"""Leaks that people report of TensorFlow itself, tried: prints the figures of `docs/versions.md`.

Each line is a program in a process of its own; what is counted is the anonymous memory of that
process, after the collector has run. `--only WORD` runs the programs whose name has it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

BEGIN = """
import gc, os, tempfile
import numpy as np
import tensorflow as tf


def held():
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(row.split()[1]) // 1024 for row in status if row.startswith("RssAnon"))


def load(number):
    return np.full((64, 64, 3), 1.0, np.float32)


def loaded(number):
    return tf.ensure_shape(WRAP(load, [number], tf.float32), [64, 64, 3])


def image(number):
    return tf.random.stateless_uniform([128, 128, 3], seed=[number, 0])


before, found = held(), []
"""
IN_A_MAP = """
data = tf.data.Dataset.range(2000).map(loaded).batch(32)
for epoch in range(12):
    for batch in data:
        pass
    found.append(held())
"""
EAGER = """
for epoch in range(12):
    for number in range(1000):
        WRAP(load, [tf.constant(number)], tf.float32)
    found.append(held())
"""
MADE_ANEW = """
for epoch in range(12):
    for _ in range(5):
        for batch in tf.data.Dataset.range(100).map(loaded).batch(32):
            pass
    found.append(held())
"""
CACHE = """
data = tf.data.Dataset.range(1600).map(image)  # 300 MiB
data = CACHED.batch(16)
for epoch in range(4):
    for batch in data:
        pass
    found.append(held())
"""
END = "print(*(each - before for each in found))\n"
WRAPS = {"py_function": "tf.py_function", "numpy_function": "tf.numpy_function"}
CACHES = {
    "no cache": "data",
    "cache()": "data.cache()",
    "cache(filename)": "data.cache(os.path.join(tempfile.mkdtemp(), 'cache'))",
}


def whole(rounds: str, wrap: str = "tf.py_function", cached: str = "data") -> str:
    """A program that goes these rounds, and prints what it holds after each."""
    return f"{BEGIN}{rounds}{END}".replace("WRAP", wrap).replace("CACHED", cached)


PROGRAMS = {
    **{f"{name} in a map": whole(IN_A_MAP, wrap) for name, wrap in WRAPS.items()},
    **{f"{name} in eager code": whole(EAGER, wrap) for name, wrap in WRAPS.items()},
    "py_function, pipelines anew": whole(MADE_ANEW),
    **{name: whole(CACHE, cached=made) for name, made in CACHES.items()},
}


def main() -> None:
    """Run the programs, and print what each holds after each round, in MB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    wanted = parser.parse_args().only
    for name, program in PROGRAMS.items():
        if wanted in name:
            done = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True
            )
            print(f"{name}: {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
