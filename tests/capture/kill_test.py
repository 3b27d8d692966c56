"""kill -9 of a recording program at random moments leaves a logdir that opens: `kill_test.py NANLENS MNIST [RING]`."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

nanlens, mnist = sys.argv[1:3]
rng = random.Random(9)
opened = 0
for ring in ("-1", "1000"):
    for trial in range(6):
        logdir = os.path.join(tempfile.mkdtemp(), "run")
        program = subprocess.Popen([mnist, "--max_steps", "10000", "--test_size", "10", "--dump_dir", logdir,
                                    "--dump_tensor_debug_mode", "FULL_HEALTH", "--dump_circular_buffer_size", ring],
                                   stdout=subprocess.DEVNULL)
        while not (os.path.isdir(logdir) and any(f.endswith("metadata") for f in os.listdir(logdir))):
            assert program.poll() is None
            time.sleep(0.002)
        time.sleep(rng.random() * 0.6)
        program.send_signal(signal.SIGKILL)
        program.wait()
        out = subprocess.run([nanlens, "dump", logdir, "--what", "runs"], check=True, stdout=subprocess.PIPE).stdout
        run = json.loads(out)
        assert run["clean_end"] is False
        # A write cut short by the kill may leave a torn record at the end of a file, and nothing else.
        for d in run["diagnostics"]:
            assert "ends within a record" in d["message"], d
        if ring != "-1":
            assert run["num_executions"] == run["num_traces"] == 0
        opened += 1
print(f"{opened} killed recordings opened")
