"""Both ways with the real TensorFlow and TensorBoard: `run.py NANLENS MNIST WORK_DIR`.

Makes a virtual environment in WORK_DIR if it is not there, then (a) programs run under TensorFlow, and nanlens' answers must
equal TensorFlow's own; (b) the walkthrough is recorded by nanlens in every mode and ring setting, and TensorFlow's answers must
equal ours, also where it was killed and recovered; (c) TensorBoard serves it, with 499 alerts; (d) programs with a known culprit,
small ones and ones of the size of real ones, run under TensorFlow, and `nanlens why` must name it in three modes: TensorFlow
records one, from which the others follow, as programs that it records in all three show;
(e) damaged copies of TensorFlow's logdirs are read.
"""
import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CAUSES = os.path.join(HERE, "..", "causes")
MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")
PROGRAMS = [("core", m) for m in MODES] + [
    (p, "FULL_HEALTH") for p in ("keras", "data", "mirrored", "session", "filtered", "ring")]

nanlens, mnist, work = (os.path.abspath(a) for a in sys.argv[1:4])
os.makedirs(work, exist_ok=True)
venv = os.path.join(work, "venv")
python = os.path.join(venv, "bin", "python")
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")


def call(*args):
    r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return checked(args, r.returncode, r.stdout)


def checked(args, code, said):
    if code != 0:
        sys.exit(f"{' '.join(args)}\nfailed with {code}:\n{said[-4000:]}")
    return said


def call_with_tensorflow(script, *args):
    """Runs a script in a process of its own that begins with TensorFlow imported, which takes longer than most scripts do."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            sys.argv = [script, *args]
            sys.path.insert(0, os.path.dirname(script))
            runpy.run_path(script, run_name="__main__")
            sys.exit()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return checked((script, *args), code, output.read())


def install():
    if os.path.exists(os.path.join(venv, "complete")):
        return
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "tensorflow-cpu", "tensorboard"],
                   check=True)
    open(os.path.join(venv, "complete"), "w").close()


def recorded(name, record, *sources):
    """The folder of what TensorFlow records, which depends on the programs alone: made anew if they changed."""
    folder = os.path.join(work, name)
    key = os.path.join(folder, "key")
    now = hashlib.blake2b()
    for source in sources:
        with open(source, "rb") as f:
            now.update(f.read())
    if os.environ.get("NANLENS_SKIP_UNCHANGED") and os.path.exists(key):
        with open(key, encoding="utf-8") as f:
            if f.read() == now.hexdigest():
                return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    record(folder)
    with open(key, "w", encoding="utf-8") as f:
        f.write(now.hexdigest())
    return folder


def record_programs(folder):
    jobs = [(program, os.path.join(folder, f"tf.{program}.{mode}"), mode) for program, mode in PROGRAMS]
    call_with_tensorflow(os.path.join(HERE, "programs.py"), *(part for job in jobs for part in job))
    call_with_tensorflow(os.path.join(HERE, "reference.py"), os.path.join(folder, "answers.json"), *(to for _, to, _ in jobs))


def record_causes(folder):
    call_with_tensorflow(os.path.join(CAUSES, "programs.py"), folder)


def record_real(folder):
    call_with_tensorflow(os.path.join(CAUSES, "real_programs.py"), folder)


def record_killed(logdir, ring):
    """A walkthrough that is killed while it records, and recovered."""
    program = subprocess.Popen([mnist, "--dump_dir", logdir, "--dump_tensor_debug_mode", "FULL_HEALTH", "--dump_circular_buffer_size", ring,
                                "--test_size", "100", "--max_steps", "1000"], stdout=subprocess.DEVNULL)
    while not os.path.isdir(logdir) or not subprocess.run([nanlens, "dump", logdir, "--what", "alerts"], stdout=subprocess.PIPE,
                                                          stderr=subprocess.DEVNULL).stdout:
        if program.poll() is not None:
            sys.exit(f"the walkthrough ended with {program.returncode} before it could be killed")
    program.kill()
    program.wait()
    moved = call(nanlens, "recover", logdir)
    assert "moved into its files" in moved, moved
    return logdir


def main():
    install()
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        os.execv(python, [python, *sys.argv])
    import tensorflow  # noqa: F401  for call_with_tensorflow
    logs = os.path.join(work, "logs")
    shutil.rmtree(logs, ignore_errors=True)
    os.mkdir(logs)
    programs = recorded("programs", record_programs, __file__, os.path.join(HERE, "programs.py"), os.path.join(HERE, "reference.py"))
    theirs = [os.path.join(programs, f"tf.{program}.{mode}") for program, mode in PROGRAMS]
    ours = []
    for mode in MODES:
        for ring in ("-1", "200"):
            ours.append(os.path.join(logs, f"nanlens.ring{ring}.{mode}"))
            call(mnist, "--dump_dir", ours[-1], "--dump_tensor_debug_mode", mode, "--dump_circular_buffer_size", ring,
                 "--test_size", "100")
    ours += [record_killed(os.path.join(logs, f"killed.ring{ring}"), ring) for ring in ("-1", "200")]
    call_with_tensorflow(os.path.join(HERE, "reference.py"), os.path.join(logs, "answers.json"), *ours)
    for answers in programs, logs:
        print(call(python, os.path.join(HERE, "compare.py"), nanlens, os.path.join(answers, "answers.json")), end="")
    walkthrough = os.path.join(logs, "nanlens.ring-1.FULL_HEALTH")
    print(call(python, os.path.join(HERE, "tensorboard.py"), os.path.join(venv, "bin", "tensorboard"), nanlens, walkthrough, "499"),
          end="")
    other_modes = os.path.join(CAUSES, "other_modes.py")
    for mode in MODES[1:3]:
        call_with_tensorflow(other_modes, "--check", *(os.path.join(programs, f"tf.core.{m}") for m in (MODES[3], mode)), mode)
    causes = recorded("causes", record_causes, __file__, other_modes, os.path.join(CAUSES, "programs.py"))
    print(call(sys.executable, os.path.join(CAUSES, "score.py"), nanlens, causes), end="")
    real = recorded("real", record_real, __file__, other_modes, *(os.path.join(CAUSES, name) for name in sorted(os.listdir(CAUSES)) if name.startswith("real_")))
    print(call(sys.executable, os.path.join(CAUSES, "score_real.py"), nanlens, real), end="")
    print(call(python, os.path.join(HERE, "damage.py"), nanlens, *theirs[3:4], *theirs[6:8], theirs[9], walkthrough), end="")


if __name__ == "__main__":
    main()
