"""Both ways with the real TensorFlow and TensorBoard: `run.py NANLENS MNIST WORK_DIR`.

Makes a virtual environment in WORK_DIR if it is not there, then (a) programs run under TensorFlow, and nanlens' answers must
equal TensorFlow's own; (b) the walkthrough is recorded by nanlens in every mode and ring setting, and TensorFlow's answers must
equal ours; (c) TensorBoard serves it, with 499 alerts; (d) programs with a known culprit run under TensorFlow, and `nanlens why` must name it;
(e) damaged copies of TensorFlow's logdirs are read.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")
PROGRAMS = [("core", m) for m in MODES] + [
    (p, "FULL_HEALTH") for p in ("keras", "data", "mirrored", "session", "filtered", "ring")]

nanlens, mnist, work = (os.path.abspath(a) for a in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
venv = os.path.join(work, "venv")
python = os.path.join(venv, "bin", "python")
environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "0"}


def call(*args):
    r = subprocess.run(args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode != 0:
        sys.exit(f"{' '.join(args)}\nfailed with {r.returncode}:\n{r.stdout[-4000:]}")
    return r.stdout


def install():
    if os.path.exists(os.path.join(venv, "complete")):
        return
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "tensorflow-cpu", "tensorboard"],
                   check=True)
    open(os.path.join(venv, "complete"), "w").close()


def main():
    install()
    logs = os.path.join(work, "logs")
    shutil.rmtree(logs, ignore_errors=True)
    os.mkdir(logs)
    theirs = []
    for program, mode in PROGRAMS:
        theirs.append(os.path.join(logs, f"tf.{program}.{mode}"))
        call(python, os.path.join(HERE, "programs.py"), program, theirs[-1], mode)
    ours = []
    for mode in MODES:
        for ring in ("-1", "200"):
            ours.append(os.path.join(logs, f"nanlens.ring{ring}.{mode}"))
            call(mnist, "--dump_dir", ours[-1], "--dump_tensor_debug_mode", mode, "--dump_circular_buffer_size", ring,
                 "--test_size", "100")
    for name, dirs in (("tensorflow", theirs), ("nanlens", ours)):
        answers = os.path.join(logs, f"{name}.json")
        call(python, os.path.join(HERE, "reference.py"), answers, *dirs)
        print(call(python, os.path.join(HERE, "compare.py"), nanlens, answers), end="")
    walkthrough = os.path.join(logs, "nanlens.ring-1.FULL_HEALTH")
    print(call(python, os.path.join(HERE, "tensorboard.py"), os.path.join(venv, "bin", "tensorboard"), nanlens, walkthrough, "499"),
          end="")
    causes = os.path.join(logs, "causes")
    os.mkdir(causes)
    programs = os.path.join(HERE, "..", "causes")
    for mode in MODES[3], MODES[2], MODES[1]:
        call(python, os.path.join(programs, "programs.py"), causes, mode)
    print(call(sys.executable, os.path.join(programs, "score.py"), nanlens, causes), end="")
    print(call(python, os.path.join(HERE, "damage.py"), nanlens, *theirs[3:4], *theirs[6:8], theirs[9], walkthrough), end="")


if __name__ == "__main__":
    main()
