"""Programs the size of real ones, with a known culprit, for the real TensorFlow to record: `real_programs.py OUT_DIR [NAME...]`.

Each program gets a logdir of its own in every mode, OUT_DIR/NAME.MODE (see other_modes.py).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import real_functions  # noqa: E402,F401
import real_gradients  # noqa: E402,F401
import real_models  # noqa: E402,F401
import real_training  # noqa: E402,F401
from other_modes import FULL, copy_as  # noqa: E402
from real_registry import MODES, PROGRAMS  # noqa: E402


def main():
    out = sys.argv[1]
    only = sys.argv[2:]
    import numpy as np
    import tensorflow as tf
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    for name, program in PROGRAMS.items():
        if only and name not in only:
            continue
        full = os.path.join(out, f"{name}.{FULL}")
        tf.keras.utils.set_random_seed(42)
        tf.debugging.experimental.enable_dump_debug_info(full, tensor_debug_mode=FULL, circular_buffer_size=program.ring)
        program.run(tf, np)
        tf.debugging.experimental.disable_dump_debug_info()
        for mode in MODES:
            if mode != FULL:
                copy_as(full, os.path.join(out, f"{name}.{mode}"), mode)


if __name__ == "__main__":
    main()
