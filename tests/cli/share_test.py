"""`nanlens share`, without a browser: `share_test.py NANLENS RECORDING GOLDEN`. RECORDING is the walkthrough's; tests/browser
opens what is shared."""
import base64
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

nanlens, recording, golden = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
work = Path(tempfile.mkdtemp())
place = '<script type="text/plain" id="run"></script>'
page = work / "page.html"
page.write_text(f"<!doctype html><body>{place}<p>after</p>")
with_recording = re.compile(r'<script type="text/plain" id="run" data-name="([^"]*)" data-view="([^"]*)">([A-Za-z0-9+/=]*)</script>')


def run(*args, code=0):
    r = subprocess.run([nanlens, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def share(name, logdir, *more, code=0):
    """The shared file's recording as a directory, its name and its view."""
    shared = work / f"{name}.html"
    told = run("share", logdir, "--page", page, "-o", shared, *more, code=code)
    if code:
        assert not shared.exists() and not list(work.glob("*.part")), name
        return told
    assert told == f"{shared}\n", told
    text = shared.read_text()
    before, after = text.split("<script", 1)[0], text.rsplit("</script>", 1)[1]
    assert (before, after) == ("<!doctype html><body>", "<p>after</p>"), (before, after)
    title, view, packed = with_recording.search(text).groups()
    archive = work / f"{name}.nanlens"
    archive.write_bytes(base64.b64decode(packed, validate=True))
    assert len(packed) <= 1.4 * archive.stat().st_size
    to = work / name
    run("unpack", archive, "-C", to)
    return to, html.unescape(title), html.unescape(view)


def contents(directory):
    return {str(f.relative_to(directory)): f.read_bytes() for f in Path(directory).rglob("tfdbg_events.*") if not f.name.endswith(".live")}


def texts(logdir):
    kinds = "runs", "source_files", "stack_frames", "graphs", "ops", "devices", "executions", "traces"
    return "".join(run("dump", logdir, "--what", kind, *(["--lines"] * (kind == "source_files"))) for kind in kinds)


def cause(logdir):
    return run("why", logdir).splitlines()


# All of it, from a directory and from an archive.
whole, title, view = share("whole", recording)
assert contents(whole) == contents(recording)
assert (title, view) == (recording.name + ".nanlens", "")
assert contents(share("again", work / "whole.nanlens")[0]) == contents(recording)

# What is no file stays what it is.
pipe = work / "pipe"
os.mkfifo(pipe)
reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
run("share", recording, "--page", page, "-o", pipe)
told = reader.communicate()[0]  # when it was packed is in it
assert with_recording.search(told) and told.endswith("</script><p>after</p>") and pipe.is_fifo()
link = work / "link.html"
link.symlink_to("target.html")
(work / "target.html").write_text("old")
run("share", recording, "--page", page, "-o", link)
assert link.is_symlink() and place not in (work / "target.html").read_text() and "after" in (work / "target.html").read_text()

# What another one is writing, or has left, stays as it is.
(work / "taken.html.part").symlink_to("elsewhere")
(work / "taken.html.2.part").write_text("of another")
share("taken", recording)
assert not (work / "elsewhere").exists() and (work / "taken.html.2.part").read_text() == "of another"
assert not (work / "taken.html.3.part").exists()
for left in work.glob("*.part"):
    left.unlink()

# Names and views can't break out of the page.
odd = work / 'a"b<script>&amp; c'
shutil.copytree(recording, odd)
assert share("odd", str(odd) + "/", "--view", 'file:///x/nanlens.html#nl=1&q="</script>')[1:] == (odd.name + ".nanlens", 'nl=1&q="</script>')
assert share("row", recording, "--view", "t=88")[2] == "nl=1&t=88"
assert "is no view" in share("no-view", recording, "--view", "88", code=2)

# Without source text the answer is the same but for its line.
model = next(f for f in run("dump", recording, "--what", "source_files", "--lines").splitlines() if "model.cpp" in f)
assert "Matrix logp" in model
bare = share("bare", recording, "--no-source")[0]
assert not any(b"Matrix logp" in b for b in contents(bare).values())
assert [l for l in cause(recording) if "Matrix logp" not in l] == cause(bare)

# Texts are gone from every file, from names and from the page, whatever they were in; what else there was is there.
host = next(iter(contents(recording))).split(".")[2]
words = ("model.cpp", "dense_layer", host, recording.name)
hidden, title, _ = share("hidden", recording, *sum((["--redact", w] for w in words), []))
said = texts(hidden)
for word in words:
    assert word in texts(recording) and word not in said, word
    assert len(word) < 6 or not any(word.encode() in b for b in contents(hidden).values()), word  # numbers spell short ones
    assert not any(word in name for name in contents(hidden)), word
    assert word not in title + (work / "hidden.html").read_text().split("data-view")[0], word
assert [line.replace("model.cpp", "redacted").replace("dense_layer", "redacted2") for line in cause(recording)] == cause(hidden)
nested = texts(share("nested", recording, "--redact", "dense", "--redact", "dense_layer")[0])  # one is a part of the other
assert "dense" not in nested and "redacted_layer" not in nested and "redacted2" in nested
told = share("format", recording, "--redact", "debug.Event", code=2)
assert "can't be taken out" in told and "Nothing was written" in told, told
assert "can't be taken out" in share("version", recording, "--redact", "vent", code=2)
assert "stands instead" in share("instead", recording, "--redact", "act", code=2)
# A text that numbers spell by chance, in no text.
raw = b"".join(contents(recording).values()).decode("latin-1")
by_chance = next(c for c in map(chr, range(1, 128)) if c in raw and c not in texts(recording) + title and not c.isspace())
assert contents(share("by-chance", recording, "--redact", by_chance)[0]) == contents(recording)
share("empty", recording, "--redact", "", code=2)

# Around the cause: the same sentence from a part, which says that it is one.
part = share("part", recording, "--around-cause", "3")[0]
assert cause(part)[0] == cause(recording)[0]
assert "bad tensors on record follow from it" in cause(part)[1], cause(part)[1]
assert "on record follow" not in cause(recording)[1]
assert "warning sign: 5 zeros, and none the time before" in "\n".join(cause(part))
rows = [len(run("dump", d, "--what", "traces").splitlines()) for d in (recording, part)]
calls = [len(run("dump", d, "--what", "executions").splitlines()) for d in (recording, part)]
assert 10 < rows[1] < rows[0] / 3, rows
assert f"{sum(rows) - 2 * rows[1] + calls[0] - calls[1]} ops were left out, as asked for" in run("report", part), (rows, calls)
assert "excludes" in share("both", recording, "--around-cause", "3", "--view", "t=88", code=2)

# Marks of what is meant go along, without what is taken out, and count there.
marked = work / "marked"
shutil.copytree(recording, marked)
(marked / "nanlens.mutes").write_text("type:Log file:model.cpp -- as somebody meant it\n")
assert (share("marks", marked)[0] / "nanlens.mutes").read_text() == (marked / "nanlens.mutes").read_text()
assert "1 muted by marks.nanlens/nanlens.mutes:1" in run("check", work / "marks.nanlens")
told = (share("fewer", marked, "--redact", "somebody", "--no-source")[0] / "nanlens.mutes").read_text()
assert told == "type:Log file:model.cpp -- as redacted meant it\n", told

# TensorFlow's own logdirs, too.
tensorflow = golden / "core.FULL_HEALTH"
name = next(iter(contents(tensorflow))).split(".")[2]
theirs = share("theirs", tensorflow, "--redact", name, "--no-source")[0]
assert not any(name.encode() in b for b in contents(theirs).values())
assert cause(theirs)[0] == cause(tensorflow)[0]
for what in ("executions", "traces", "graphs", "ops", "alerts"):
    ours = run("dump", theirs, "--what", what).splitlines()
    assert len(ours) == len(run("dump", tensorflow, "--what", what).splitlines()) > 0, what

# A damaged record is not passed on, and that is told.
broken = work / "broken"
shutil.copytree(recording, broken)
execution = next(broken.glob("*.execution"))
data = bytearray(execution.read_bytes())
data[len(data) // 2] ^= 0xFF
execution.write_bytes(data)
r = subprocess.run([nanlens, "share", broken, "--page", page, "-o", work / "b.html", "--no-source"], capture_output=True, text=True)
assert r.returncode == 0 and re.search(r"\.execution: damaged records are left out: 1$", r.stderr, re.M), r

# No page, and one that is no page of nanlens.
alone = work / "bin" / "nanlens"
alone.parent.mkdir()
shutil.copy(nanlens, alone)
r = subprocess.run([alone, "share", recording, "-o", work / "x.html"], capture_output=True, text=True)
assert r.returncode == 2 and "sh wasm/build.sh" in r.stderr, r
page.write_text("<p>something else</p>")
assert "is no page of this nanlens" in share("wrong", recording, code=2)
assert "no tfdbg2 logdir" in share("nothing", work / "bin", code=2)
shutil.rmtree(work)
print("ok")
