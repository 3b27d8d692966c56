"""The desktop viewer as a real window under Xvfb, with real events: desktop_test.py VIEWER COMMAND MNIST MAKE_LOGDIR GOLDEN WORK."""
import json
import os
import shutil
import subprocess
import sys
import time

viewer, command, mnist, make_logdir, golden, work = (os.path.abspath(p) for p in sys.argv[1:7])
shots = os.path.join(work, "shots")
os.makedirs(shots, exist_ok=True)
passed, failed = 0, 0


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


class Display:
    """An X server of its own, on the first free number."""

    def __init__(self, width, height):
        read_end, write_end = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
                                       pass_fds=[write_end], stderr=subprocess.DEVNULL)
        os.close(write_end)
        with os.fdopen(read_end) as numbers:
            self.name = ":" + numbers.readline().strip()

    def __enter__(self):
        os.environ["DISPLAY"] = self.name
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


class Viewer:
    def __init__(self, *arguments, width=1280, height=720, program=None, environment=None):
        self.file = os.path.join(work, "state.json")
        if os.path.exists(self.file):
            os.remove(self.file)
        words = program or [viewer]
        self.process = subprocess.Popen([*words, "--state", self.file, "--width", str(width), "--height", str(height), *arguments], cwd=work,
                                        env={**os.environ, **(environment or {})})
        self.wait(lambda s: True, "a window")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def read(self):
        try:
            with open(self.file, encoding="utf-8") as f:
                return json.load(f)
        except FileNotFoundError:
            return None

    def state(self):
        return self.read()["state"]

    def wait(self, condition, what, seconds=30):
        end = time.time() + seconds
        while time.time() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the viewer ended with {self.process.returncode}")
            whole = self.read()
            if whole and condition(whole["state"]):
                return whole["state"]
            time.sleep(0.03)
        raise AssertionError(f"waited in vain for {what}: {json.dumps(self.state()['focus']) if self.read() else 'no state'}")

    def point(self, name, fx=0.5, fy=0.5):
        r = self.read()["rects"][name]
        return int(r["x"] + r["w"] * fx), int(r["y"] + r["h"] * fy)

    def click(self, name, button=1, fx=0.5, fy=0.5):
        x, y = self.point(name, fx, fy)
        run("xdotool", "mousemove", str(x), str(y), "click", str(button))

    def drag(self, name, to, fx=0.5, fy=0.5):
        """By its left part onto a place in another one, let go when it is shown where it would be put."""
        x, y = self.point(name, 0.25)
        to_x, to_y = self.point(to, fx, fy)
        run("xdotool", "mousemove", str(x), str(y), "mousedown", "1", "mousemove", str(to_x), str(to_y))
        self.wait(lambda s: "drop:preview" in self.read()["rects"], "the place to drop it")
        run("xdotool", "mouseup", "1")

    def key(self, *keys):
        run("xdotool", "key", *keys)

    def type(self, text):
        self.wait(lambda s: s["typing"], "a text field")
        run("xdotool", "type", text)

    def leave(self):
        """Puts the mouse where nothing reacts to it."""
        run("xdotool", "mousemove", "5", "700")
        self.wait(lambda s: s["hovered"] is None, "nothing under the mouse")

    def window(self):
        return run("xdotool", "search", "--name", "^nanlens$").split()[-1]

    def shot(self, name, crop=None):
        """A picture of the window, or of a part of it, as soon as it stays the same."""
        cut = ["-crop", "{w:.0f}x{h:.0f}+{x:.0f}+{y:.0f}".format(**self.read()["rects"][crop]), "+repage"] if crop else []
        path, before = os.path.join(shots, name), None
        for _ in range(100):
            run("import", "-window", self.window(), *cut, path)
            now = run("identify", "-format", "%#", path)
            if now == before:
                return path
            before = now
        raise AssertionError(f"the window never stays as it is: {name}")


def check(body):
    global passed, failed
    start = time.time()
    try:
        body()
        passed += 1
        print(f"ok    {body.__doc__} ({time.time() - start:.1f} s)", flush=True)
    except Exception as error:  # every check is to run
        failed += 1
        print(f"FAIL  {body.__doc__}: {type(error).__name__}: {error}", flush=True)


def badge(row, kind):
    return next((b["value"] for b in row["badges"] if b["kind"] == kind), None)


def row(state, index):
    return next(r for r in state["graph_executions"]["visible"] if r["index"] == index)


logdir = os.path.join(work, "mnist")
shutil.rmtree(logdir, ignore_errors=True)  # recorded anew: by this build
run(mnist, "--dump_dir", logdir, "--dump_tensor_debug_mode", "FULL_HEALTH", "--dump_circular_buffer_size", "-1")
os.environ["XDG_CONFIG_HOME"] = os.path.join(work, "config")
shutil.rmtree(os.environ["XDG_CONFIG_HOME"], ignore_errors=True)


def walkthrough():
    """from the command to the source line, then by mouse and keyboard through the panes"""
    with Viewer(logdir, "--theme", "light") as v:
        s = v.wait(lambda s: s["focus"]["trace"] == 88, "the first bad tensor")
        assert s["alerts"]["total"] == 499 and s["runs"][0]["num_traces"] == 600
        assert badge(row(s, 88), "ninf") == 5
        assert "input:0" in row(s, 85)["roles"] and badge(row(s, 85), "zero") == 5
        with open(s["source_code"]["path"], encoding="utf-8") as source:
            assert '"Log"' in source.read().split("\n")[s["source_code"]["line"] - 1]
        v.leave()
        v.shot("desktop-light.png")
        v.click("alert:53")
        v.wait(lambda s: s["focus"]["trace"] == 148, "row 148")
        v.key("period")
        v.wait(lambda s: s["focus"]["trace"] == 149, "the next alert")
        v.key("n")
        v.wait(lambda s: s["focus"]["trace"] == 88, "the first bad tensor")
        v.click("op:input:0")
        v.wait(lambda s: s["focus"]["op_name"] == "probs", "the input")
        v.key("k")
        v.wait(lambda s: s["focus"]["op_name"] == "Softmax", "the caller's tensor")
        v.key("slash")
        v.type("type:Log bad")
        v.wait(lambda s: s["graph_executions"]["shown"] == 9, "nine rows")
        v.key("Escape", "Escape")
        v.wait(lambda s: s["graph_executions"]["shown"] == 600, "all rows")
        v.key("ctrl+p")
        v.wait(lambda s: s["popup"] == "palette", "the palette")
        v.type(":207")
        v.key("Return")
        v.wait(lambda s: s["focus"]["trace"] == 207, "row 207")
        v.click("theme")
        v.wait(lambda s: s["theme"] == "dark", "the dark theme")
        v.key("n")
        v.wait(lambda s: s["focus"]["trace"] == 88, "the first bad tensor again")
        v.leave()
        v.shot("desktop-dark.png")
        v.key("ctrl+equal", "ctrl+equal")
        v.shot("desktop-scaled.png")


def remembered():
    """theme and splitters are remembered, the logdir is in the recent list"""
    with Viewer() as v:
        s = v.wait(lambda s: True, "the start screen")
        assert s["theme"] == "dark", s["theme"]
        rects = v.read()["rects"]
        assert "recent:0" in rects and "recent:facts:0" in rects  # rows, alerts and when it was open
        v.shot("desktop-start.png")
        v.click("recent:0", fx=0.1)
        v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")


def resize():
    """the window is resized, panes fill it, down to 640x480"""
    with Viewer(logdir) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")
        def filled(width, height):
            rects = v.read()["rects"].values()
            right, bottom = max(r["x"] + r["w"] for r in rects), max(r["y"] + r["h"] for r in rects)
            return width - 12 <= right <= width + 1 and height - 30 <= bottom <= height + 1
        for width, height in ((1000, 640), (640, 480), (1580, 860)):
            run("xdotool", "windowsize", "--sync", v.window(), str(width), str(height))
            v.wait(lambda s: filled(width, height), f"panes that fill {width}x{height}")
            v.shot(f"desktop-{width}x{height}.png")


def rows_by_keys_and_mouse():
    """pins, ranges, the tail and hits of rows; full screen and back"""
    with Viewer(logdir) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")
        x, y = v.point("trace:85")
        run("xdotool", "mousemove", str(x), str(y))
        v.wait(lambda s: s["hovered"] and s["hovered"]["trace"] == 85, "the ring")
        run("xdotool", "keydown", "ctrl", "click", "1", "keyup", "ctrl")
        v.wait(lambda s: s["graph_executions"]["pinned"] == [85], "the pin")
        x, y = v.point("trace:91")
        run("xdotool", "mousemove", str(x), str(y), "keydown", "shift", "click", "1", "keyup", "shift")
        v.wait(lambda s: s["graph_executions"]["range"] == {"begin": 88, "end": 91}, "the range")
        v.key("Escape")
        v.wait(lambda s: s["graph_executions"]["range"] is None, "no range")
        v.key("3", "End")
        v.wait(lambda s: s["focus"]["trace"] == 599 and s["graph_executions"]["tail"], "the last row")
        v.key("Up")
        v.wait(lambda s: s["focus"]["trace"] == 598 and not s["graph_executions"]["tail"], "no tail")
        v.key("slash")
        v.type("type:Log")
        v.wait(lambda s: s["graph_executions"]["shown"] == 10, "ten rows")
        v.key("F3")  # after the last one comes the first
        first = v.wait(lambda s: s["focus"]["op_name"] == "Log", "the first hit")["focus"]["trace"]
        v.key("F3")
        v.wait(lambda s: s["focus"]["op_name"] == "Log" and s["focus"]["trace"] > first, "the next hit")
        v.key("shift+F3")
        v.wait(lambda s: s["focus"]["trace"] == first, "the hit before")
        v.key("F11")
        v.wait(lambda s: s["full_screen"] and "pane:alerts" in v.read()["rects"], "full screen")
        v.key("F11")
        v.wait(lambda s: not s["full_screen"], "a window")


def panes():
    """panes move, become tabs, leave the window and come back, and stay where they were put"""
    with Viewer(logdir) as v:
        default = v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")["layout"]
        v.drag("pane:stack_trace", "pane:graph_executions")
        v.wait(lambda s: s["layout"] == "R2C0ac1R3tgTek.s", "a tab")
        assert "tab:graph_executions" in v.read()["rects"]
        v.click("tab:graph_executions")
        v.wait(lambda s: s["active_pane"] == "graph_executions" and "tab:stack_trace" in v.read()["rects"], "the other tab")
        v.click("pane:source_code", button=3, fx=0.3)
        x, y = v.point("pane:source_code", 0.3)
        v.shot("desktop-menu.png")
        run("xdotool", "mousemove", str(x + 20), str(y + 12), "click", "1")
        v.wait(lambda s: s["layout"].endswith("-s"), "a window of its own")
        names = run("xdotool", "search", "--name", "nanlens: Source Code").split()
        assert len(names) == 1, names
        run("import", "-window", "root", os.path.join(shots, "desktop-detached.png"))
        v.click("source:mark:{}".format(v.state()["source_code"]["line"]))
        v.wait(lambda s: s["popup"] == "ops_of_line", "the ops of the line")
        popup, pane = v.read()["rects"]["popup"], v.read()["rects"]["pane:source_code"]
        assert abs(popup["x"] + popup["w"] / 2 - pane["x"] - pane["w"] / 2) < 2, "it opens over the pane's own window"
        run("import", "-window", "root", os.path.join(shots, "desktop-detached-popup.png"))
        v.key("Escape")
        v.wait(lambda s: s["popup"] == "none", "no popup")
        v.click("pane:source_code:dock")
        v.wait(lambda s: s["layout"] == "R2C0ac1R3tgTek.s", "the pane to be back")
    with Viewer(logdir) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88 and s["layout"] == "R2C0ac1R3tgTek.s", "the same layout")
        v.key("ctrl+p")
        v.wait(lambda s: s["popup"] == "palette", "the palette")
        v.type(">reset the layout")
        v.key("Return")
        v.wait(lambda s: s["layout"] == default, "the first layout")


def phone():
    """a window of a phone's size shows one pane with tabs, and everything is as large as a finger"""
    with Viewer(logdir, width=390, height=844) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88 and s["phone"], "the logdir")
        for pane in ("timeline", "graph_executions", "graph_structure", "source_code", "stack_trace", "alerts"):
            v.click("tab:" + pane)
            v.wait(lambda s: s["active_pane"] == pane and "pane:" + pane in v.read()["rects"], pane)
            rects = v.read()["rects"]
            assert [r for r in rects if r.startswith("pane:")] == ["pane:" + pane], pane
            v.shot(f"phone-{pane}.png")
            small = [(r, q) for r, q in rects.items() if q["h"] < 44 or q["w"] < 44
                     if r.startswith(("tab:", "verdict", "filter:", "alerts:", "help", "settings", "frame"))
                     if not r.endswith((":name", ":scroll", "expected"))]
            cut_off = {r for r, q in rects.items() if q["y"] + q["h"] > 790}  # the last line of a list may be cut
            assert not [r for r in small if r[0] not in cut_off], small


def growing():
    """a logdir that grows is followed within a second, the place is kept"""
    directory = os.path.join(work, "growing")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    tails = {}
    for name in os.listdir(logdir):
        with open(os.path.join(logdir, name), "rb") as f:
            data = f.read()
        half = len(data) // 2 if name.endswith(("execution", "traces")) else len(data)
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data[:half])
        tails[name] = data[half:]
    with Viewer(directory) as v:
        before = v.wait(lambda s: s["focus"]["trace"] == 88, "the first half")
        assert before["runs"][0]["num_traces"] < 600
        for name, data in tails.items():
            with open(os.path.join(directory, name), "ab") as f:
                f.write(data)
        after = v.wait(lambda s: s["runs"][0]["num_traces"] == 600, "the other half", seconds=5)
        assert after["focus"] == before["focus"]
        assert after["graph_executions"]["first"] == before["graph_executions"]["first"]


def idle():
    """an idle window takes no processor time"""
    with Viewer(logdir) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")
        v.leave()

        def ticks():
            with open(f"/proc/{v.process.pid}/stat", encoding="utf-8") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        def wakings():
            with open(f"/proc/{v.process.pid}/status", encoding="utf-8") as f:
                return next(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt_switches"))
        begin, share = (wakings(), ticks(), time.time()), 1

        def at_rest():
            nonlocal begin, share
            now = (wakings(), ticks(), time.time())
            if now[0] < begin[0] + 25:  # several looks at the logdir, of which each wakes it a few times
                return False
            share = (now[1] - begin[1]) / os.sysconf("SC_CLK_TCK") / (now[2] - begin[2])
            begin = now
            return share < 0.1
        v.wait(lambda s: at_rest(), "less than a tenth of a core")
        print(f"      {100 * share:.1f} % of a core while following")


def files():
    """rows, a report and a picture of the window are written where the viewer was started; the language is remembered"""
    for name in os.listdir(work):
        if name.startswith("nanlens-"):
            os.remove(os.path.join(work, name))
    with Viewer(logdir) as v:
        v.wait(lambda s: s["focus"]["trace"] == 88, "the logdir")

        def chosen(words):
            v.key("ctrl+p")
            v.wait(lambda s: s["popup"] == "palette", "the palette")
            v.type(words)
            v.key("Return")
            told = v.wait(lambda s: any("nanlens-" in t for t in s["toasts"]), words)["toasts"]
            v.wait(lambda s: not s["toasts"], "the notice to end")
            return next(t for t in told if "nanlens-" in t)
        assert "600 lines" in chosen("rows shown, as csv")  # and one with their names
        table = next(n for n in os.listdir(work) if n.endswith(".csv"))
        with open(os.path.join(work, table), encoding="utf-8") as f:
            assert len(f.read().splitlines()) == 601
        chosen("export a report")
        report = next(n for n in os.listdir(work) if n.startswith("nanlens-report"))
        with open(os.path.join(work, report), encoding="utf-8") as f:
            assert f.read() == run(command, "report", logdir)
        chosen("picture of the window")
        picture = next(n for n in os.listdir(work) if n.endswith(".png"))
        assert run("identify", "-format", "%wx%h", os.path.join(work, picture)) == "1280x720"
        same = subprocess.run(["compare", "-metric", "AE", "-fuzz", "2%", os.path.join(work, picture), v.shot("shown.png"), "null:"],
                              capture_output=True, text=True, check=False)
        assert float(same.stderr.split()[0]) < 20000, same.stderr  # what differs is the palette that has closed
        v.click("settings")
        v.wait(lambda s: s["popup"] == "settings", "the settings")
        v.click("settings:de")
        v.wait(lambda s: s["language"] == "de", "German")
        v.key("Escape")
        v.shot("desktop-de.png")
    with Viewer(logdir) as v:
        v.wait(lambda s: s["language"] == "de" and s["focus"]["trace"] == 88, "German again")
        v.click("settings")
        v.wait(lambda s: s["popup"] == "settings", "the settings")
        v.click("settings:en")
        v.wait(lambda s: s["language"] == "en", "English")


def has_glyphs(crop, *arguments):
    """Whether what is drawn there differs from what a system without fonts draws."""
    no_fonts = os.path.join(work, "no-fonts.conf")
    with open(no_fonts, "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>')
    drawn = []
    for environment in ({}, {"FONTCONFIG_FILE": no_fonts}):
        with Viewer(*arguments, environment=environment) as v:
            s = v.wait(lambda s: s["focus"]["trace"] is not None, "the logdir")
            v.leave()
            drawn.append(run("identify", "-format", "%#", v.shot(f"fonts{len(drawn)}.png", crop=crop(s))))
    return drawn[0] != drawn[1]


def chinese():
    """Chinese names and Korean texts are drawn in fonts of the system, not as boxes"""
    directory = os.path.join(work, "cjk")
    if not os.path.exists(directory):
        run(make_logdir, directory, "20", "10", "7", "cjk")

    def name_of_row(s):
        first = s["graph_executions"]["visible"][0]
        assert "损失层/对数_" in first["tensor"], first
        return f"trace:{first['index']}:name"

    assert has_glyphs(name_of_row, directory), "the Chinese characters look like those of a system without fonts"
    assert has_glyphs(lambda s: "palette", "--lang", "ko", directory), "the Korean ones do"


def tensorflow():
    """a logdir of the real TensorFlow, started by the command; what can't be opened is said"""
    with Viewer(program=[os.path.join(os.path.dirname(viewer), "nanlens-viewer")]) as v:
        v.wait(lambda s: True, "the start screen")
    process = subprocess.Popen([command, os.path.join(golden, "core.FULL_HEALTH")])
    try:
        end = time.time() + 20
        while time.time() < end and process.poll() is None:
            if subprocess.run(["xdotool", "search", "--name", "^nanlens$"], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        assert process.poll() is None, "`nanlens LOGDIR` opens the viewer"
        assert os.readlink(f"/proc/{process.pid}/exe").endswith("nanlens-viewer")
    finally:
        process.terminate()
        process.wait()
    with Viewer(os.path.join(golden, "core.FULL_HEALTH")) as v:
        s = v.wait(lambda s: s["focus"]["trace"] == 0, "the first bad tensor")
        assert s["alerts"]["total"] == 59 and s["source_code"]["line"] == 15
    with Viewer(os.path.join(golden, "core.FULL_HEALTH"), "--view", "t=3") as v:
        v.wait(lambda s: s["focus"]["trace"] == 3, "the row of the view")
    wrong = subprocess.run([viewer, "--view", "88"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "'88' is no view" in wrong.stderr, wrong
    with Viewer("/nonexistent/logdir") as v:
        s = v.wait(lambda s: s["error"], "the reason")
        assert "nonexistent" in s["error"]
        v.shot("desktop-error.png")


with Display(1600, 900):
    for body in (walkthrough, remembered, resize, rows_by_keys_and_mouse, panes, phone, growing, idle, files, chinese, tensorflow):
        check(body)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
