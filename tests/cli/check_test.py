"""What `nanlens check` writes, read by those who it is for: `check_test.py NANLENS CAUSES MNIST GOLDEN_DIR WORK_DIR`. SARIF by the schema of its
standard, JUnit and Markdown by programs that read them, GitHub's workflow commands by the rules of its runner."""
import hashlib
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.parse

try:
    import jsonschema
    import junitparser
    import markdown_it
    import yaml
except ImportError:  # Debian's packages are for its own interpreter
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        sys.exit("needs Debian's python3-jsonschema, python3-junitparser, python3-markdown-it and python3-yaml")
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

nanlens, causes, mnist, golden, work = (os.path.abspath(a) for a in sys.argv[1:6])
os.makedirs(work, exist_ok=True)
logdirs = os.path.join(work, "logdirs")
shutil.rmtree(logdirs, ignore_errors=True)
os.mkdir(logdirs)

EVIL = ["a::error::b", "::warning file=x::y", "two\nlines\r\nthree", "]]>", "\"'<&>", "<script>x</script>", "\x01\x1b[31m\x7f", "bar|tick`s``*_#~",
        "100%0A,%25", "**bold** [x](y) @user :tada:", "- item", "---", "\u202eturned\u2028line", "ünïcödé −∞", b"\xff\xfe\xc3(\xed\xa0\x80"]


def run(*args, code=0, cwd=logdirs):
    r = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout.decode(), r.stderr.decode()  # fails if what is written is not UTF-8


def check(logdir, *more, code=0, cwd=logdirs):
    return run(nanlens, "check", os.path.join(logdirs, logdir), *more, code=code, cwd=cwd)[0]


def answer(logdir, *more, code=0, cwd=logdirs):
    return json.loads(check(logdir, "--format", "json", *more, code=code, cwd=cwd))


def write(name, text):
    with open(os.path.join(logdirs, name), "w", encoding="utf-8") as f:
        f.write(text)


def sarif_schema():
    """The OASIS schema, which an npm package carries: its archive is only unpacked."""
    path = os.path.join(work, "sarif-2.1.0.schema.json")
    if not os.path.exists(path):
        subprocess.run(["npm", "pack", "--silent", "@microsoft/sarif-multitool-ts@5.7.0"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        archive = os.path.join(work, "microsoft-sarif-multitool-ts-5.7.0.tgz")
        with open(archive, "rb") as f:
            assert hashlib.sha256(f.read()).hexdigest() == "e17817093e439b7c0b94d8fe328eaa0c146cc3ea58eaa2212c656e153c1a6445", "another archive"
        with tarfile.open(archive) as tar, open(path + ".part", "wb") as out:
            shutil.copyfileobj(tar.extractfile("package/assets/sarif-2.1.0.schema.json"), out)
        os.rename(path + ".part", path)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


schema = sarif_schema()
validator = jsonschema.Draft202012Validator(schema)
assert schema["properties"]["version"]["enum"] == ["2.1.0"]
assert not validator.is_valid({"version": "2.1.0", "runs": [{"results": []}]})  # no tool


def sarif(text):
    log = json.loads(text)
    errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(log)]
    assert not errors, errors
    return log["runs"][0]


def junit(text):
    suites = junitparser.JUnitXml.fromstring(text.encode())
    (suite,) = list(suites)
    cases = list(suite)
    kinds = [type(r).__name__ for c in cases for r in c.result]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
        len(cases), kinds.count("Failure"), kinds.count("Error"), kinds.count("Skipped")), text
    assert len({c.name for c in cases}) == len(cases), "names of tests are not unique"
    return suite, {c.name: c for c in cases}


def commands(text):
    """Workflow commands, as the runner of GitHub Actions takes them from a log: properties and message, decoded."""
    found = []
    for line in text.split("\n"):
        m = re.match(r"\s*::([a-z-]+)(?: (.*?))?::(.*)$", line)
        if not m:
            assert not line.strip().startswith("::"), line
            continue
        properties = {}
        for pair in (m[2] or "").split(","):
            key, _, value = pair.partition("=")
            properties[key] = urllib.parse.unquote(value)
        found.append((m[1], properties, urllib.parse.unquote(m[3])))
    return found


def rendered(text):
    """Headings, cells and code of Markdown, as a renderer with tables understands it."""
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(text)
    inline = [t for t in tokens if t.type == "inline"]
    return tokens, inline


# One cause with its chain: the walkthrough.
run(mnist, "--max_steps", "2", "--test_size", "100", "--dump_dir", os.path.join(logdirs, "bug"), "--dump_tensor_debug_mode", "FULL_HEALTH",
    "--dump_circular_buffer_size", "-1")
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
formats = ("text", "json", "junit", "sarif", "github", "markdown")
outputs = [part for name in formats for part in ("--output", f"{name}={name}.out")]
text = check("bug", *outputs, "--source-root", source, code=1)
files = {}
for name in formats:
    with open(os.path.join(logdirs, name + ".out"), encoding="utf-8") as f:
        files[name] = f.read()
assert files["text"] == text
for name in formats:
    assert check("bug", "--format", name, "--source-root", source, code=1) == files[name], name
facts = json.loads(files["json"])
(log,) = facts["findings"]
assert (facts["format"], facts["version"], facts["verdict"], facts["exit_code"]) == ("nanlens-check", 1, "findings", 1)
assert (log["rule"], log["op_type"], log["graph"], log["row"], log["state"]) == ("rc.log_softmax", "Log", "loss", 88, "new"), log
assert log["place"]["path_in_root"] == "examples/mnist/model.cpp" and log["chain"][0]["where"] == "row 88", log["place"]
with open(os.path.join(source, log["place"]["path_in_root"]), encoding="utf-8") as f:
    assert 'f.op("Log"' in f.read().split("\n")[log["place"]["line"] - 1]

flow = sarif(files["sarif"])
(result,) = flow["results"]
(location,) = result["locations"]
assert location["physicalLocation"] == {"artifactLocation": {"uri": "examples/mnist/model.cpp", "uriBaseId": "SRCROOT"},
                                        "region": {"startLine": log["place"]["line"]}}, location
assert flow["originalUriBaseIds"]["SRCROOT"]["uri"] == f"file://{source}/"
assert flow["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "rc.log_softmax"
steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
assert len(steps) == len(log["chain"]) > 5 and "made here" in steps[0]["location"]["message"]["text"], steps
assert "suppressions" not in result and "baselineState" not in result, result
suite, cases = junit(files["junit"])
assert set(cases) == {"no NaN or infinity", "rc.log_softmax: Log in loss at model.cpp"}, cases
(error, verdict) = commands(files["github"])
assert error[:2] == ("error", {"file": "examples/mnist/model.cpp", "line": str(log["place"]["line"]), "title": "rc.log_softmax"}), error
assert error[2].startswith(log["sentence"] + "\n" + log["consequence"]) and verdict[0] == "error"
tokens, inline = rendered(files["markdown"])
assert tokens[0].tag == "h2" and f"examples/mnist/model.cpp:{log['place']['line']}" in [c.content for t in inline for c in t.children if c.type == "code_inline"]

# Coverage, everywhere; and only what is known.
c = facts["coverage"]
assert (c["modes"], c["graph_tensors_checked"], c["graph_tensors"], c["lost_events"]) == (["FULL_HEALTH"], 120, 120, 0), c
assert c["bytes"] == sum(os.path.getsize(os.path.join(logdirs, "bug", f)) for f in os.listdir(os.path.join(logdirs, "bug"))), c
for name in formats:
    plain = " ".join(c.content for t in inline for c in t.children) if name == "markdown" else files[name]
    assert "looked at 120 of 120 graph tensors and " in plain and "no event was lost" in plain, name
details = {d["about"]: d["words"] for d in c["details"]}
assert "not on record" in details["filters"] and "not on record" in details["time"], details
assert sum(p.name.startswith("coverage") for p in suite.properties()) == len(details) + 1

# Where nothing is bad, and where that can't be told.
for mode, code, verdict, level in (("clean", 0, "clean", "notice"), ("shape", 3, "cannot_tell", "warning")):
    run(causes, os.path.join(logdirs, mode), mode)
    assert answer(mode, code=code)["verdict"] == verdict
    assert sarif(check(mode, "--format", "sarif", code=code))["results"] == []
    assert commands(check(mode, "--format", "github", code=code))[0][0] == level
    suite, cases = junit(check(mode, "--format", "junit", code=code))
    assert (suite.tests, suite.failures, suite.errors) == (1, 0, int(code == 3))
run(causes, os.path.join(logdirs, "mask"), "mask")
masked = answer("mask", code=0)
assert [f["level"] for f in masked["findings"]] == ["warning"] and masked["verdict"] == "clean", masked
assert masked["headline"].startswith("clean but for what does no harm: "), masked["headline"]
assert "warning: The constant " in check("mask", code=0)
suite, cases = junit(check("mask", "--format", "junit", code=0))
assert (suite.tests, suite.failures, suite.errors) == (2, 0, 0), suite
assert [r["level"] for r in sarif(check("mask", "--format", "sarif", code=0))["results"]] == ["warning"]
assert [level for level, *_ in commands(check("mask", "--format", "github", code=0))] == ["warning", "notice"]
run(causes, os.path.join(logdirs, "mask_and_log"), "mask_and_log")
beside = answer("mask_and_log", code=1)
assert sorted((f["op_type"], f["level"]) for f in beside["findings"]) == [("Const", "warning"), ("Log", "error")], beside
assert beside["verdict"] == "findings" and "Log" in beside["headline"], beside["headline"]

# Names of every kind, in every format: one finding each, none of which reaches beyond its place.
run(causes, os.path.join(logdirs, "evil"), "ops", *EVIL)
evil = answer("evil", code=1)
names = [os.fsencode(n).decode("utf-8", "surrogateescape") if isinstance(n, bytes) else n for n in EVIL]
assert len(evil["findings"]) == len(EVIL), len(evil["findings"])
assert [f["op_type"] for f in evil["findings"]][:-1] == names[:-1] and "\ufffd" in evil["findings"][-1]["op_type"]
text = check("evil", code=1)
assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", text) and "two\\nlines\\r\\nthree" in text, text
assert not any(line.strip().startswith("::") for line in text.split("\n"))
found = commands(check("evil", "--format", "github", code=1))
assert [kind for kind, _, _ in found] == ["error"] * (len(EVIL) + 1), found
for (_, properties, message), finding in zip(found, evil["findings"]):
    assert set(properties) == {"file", "line", "title"} and properties["line"] == "7", properties
    assert properties["file"] == finding["place"]["path"] and finding["tensor"].split("\n")[0].split("\x01")[0].split("\u202e")[0] in message, message
flow = sarif(check("evil", "--format", "sarif", code=1))
assert len(flow["results"]) == len(EVIL)
for result in flow["results"]:
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9/._~%-]*", uri) and urllib.parse.unquote(uri) == evil["findings"][0]["place"]["path"], uri
assert len({r["partialFingerprints"]["nanlensFinding/v1"] for r in flow["results"]}) == len(EVIL)
suite, cases = junit(check("evil", "--format", "junit", code=1))
assert suite.tests == len(EVIL) + 1 and any("]]>" in name for name in cases) and any("<script>" in name for name in cases), list(cases)
tokens, inline = rendered(check("evil", "--format", "markdown", code=1))
raw = [t for t in tokens if t.type == "html_block"] + [k for t in inline for k in t.children if k.type == "html_inline"]
assert all(re.fullmatch(r"(</?(details|summary)>|[A-Z][^<>]*)*\n*", k.content) for k in raw), [k.content for k in raw]
cells = [t for i, t in enumerate(tokens) if t.type == "inline" and tokens[i - 1].type == "td_open"]
assert sum(t.type == "tr_open" for t in tokens) >= len(EVIL) + 2 and "bar|tick`s``*_#~" in [
    "".join(k.content for k in t.children) for t in cells], [t.content for t in cells]
assert "bar|tick`s``*_#~:0" in [k.content for t in inline for k in t.children if k.type == "code_inline"]
assert not any(k.type in ("link_open", "image") for t in inline for k in t.children)
assert [t.tag for t in tokens if t.type == "heading_open"] == ["h2"] and not any(t.type in ("hr", "bullet_list_open", "code_block") for t in tokens)

# The page: nothing in it acts or asks for anything, whatever the names are, and all that a person needs is in its text.


class Page(html.parser.HTMLParser):
    allowed = set("html head meta title style body main footer section h1 h2 p span code pre mark table caption tr th td figure figcaption svg rect path".split())

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.marked, self.within = [], [], "", []
        self.feed(text)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        assert tag in self.allowed, tag
        assert not any(name.startswith("on") or name in ("href", "src") for name, _ in attributes), attributes
        self.tags.append(tag)
        self.within.append(tag)

    def handle_endtag(self, tag):
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.within:
            return
        self.texts.append(data)
        if "mark" in self.within:
            self.marked += data


assert run(nanlens, "report", "bug", "--html", "-o", "bug.html")[0] == "bug.html\n"
with open(os.path.join(logdirs, "bug.html"), encoding="utf-8") as f:
    text = f.read()
assert text == run(nanlens, "report", "bug", "--html")[0]
assert re.search(r'Content-Security-Policy" content="default-src \'none\'; style-src', text)
page = Page(text)
for part in (log["sentence"], log["consequence"], log["remedy"], facts["coverage"]["line"], *(s["tensor"] for s in log["chain"])):
    assert part in page.text, part
assert page.marked.startswith(f"{log['place']['line']:6} | ") and 'f.op("Log"' in page.marked, page.marked
assert page.tags.count("svg") == 2 and text.count('d="M') == 1, "two overviews, one with the cause"
bars = len(re.findall(r'class="bar" x', text))
assert 5 < bars < 120, bars
rows = [json.loads(line) for line in run(nanlens, "dump", "bug", "--what", "alerts")[0].splitlines()]
num_bad = len({a["graph_execution_trace_index"] for a in rows} - {None})
assert f"Rows: {num_bad} of 120 with a NaN or ∞; the first cause is marked" in page.text, page.text
page = Page(run(nanlens, "report", "evil", "--html")[0])
assert page.tags.count("section") == len(EVIL) and page.tags.count("pre") == 0, page.tags
for name in ("<script>x</script>", "two\\nlines\\r\\nthree", "\"'<&>", "]]>", "ünïcödé −∞", "\\xe2\\x80\\xaeturned\\xe2\\x80\\xa8line"):
    assert name + " at " in page.text, name
page = Page(run(nanlens, "report", "clean", "--html")[0])
assert "section" not in page.tags and "clean" in page.text
assert "can't write" in run(nanlens, "report", "bug", "--html", "-o", "missing/x.html", code=2)[1]

# Rules, on a recording of real TensorFlow: an error, a note with an innocent name, one that holds nowhere, one that nothing can be judged by.
core = os.path.join(golden, "core.FULL_HEALTH")
rules = ["--rule", "dead log: ninf>0 type:Log for 3 calls -- take care", "--rule", "note ]]>|<script>: zero>=33% dtype:float16",
         "--rule", "never: nan>1000", "--rule", "warning hot: max>5"]
ruled = json.loads(run(nanlens, "check", core, "--format", "json", *rules, code=1)[0])
assert [(r["name"], r["level"], r["findings"], bool(r["not_judged"])) for r in ruled["rules"]] == [
    ("dead log", "error", 1, False), ("]]>|<script>", "note", 1, False), ("never", "error", 0, False), ("hot", "warning", 0, True)], ruled["rules"]
hits = [f for f in ruled["findings"] if f["of_rule"]]
assert [(f["rule"], f["level"], f["op_type"], f["occurrences"], f["place"]["line"], f["bad_tensors"]) for f in hits] == [
    ("dead log", "error", "Log", 1, 15, 0), ("]]>|<script>", "note", "Cast", 2, 39, 0)], hits
assert hits[0]["sentence"] == 'The rule "dead log" holds of Log:0: ninf is 1, for 3 calls.' and hits[0]["consequence"] == "take care", hits[0]
assert hits[0]["expression"] == "ninf>0 type:Log for 3 calls", hits[0]
unjudged = 'rule "hot" could not be judged: no recording of max'
written = {name: run(nanlens, "check", core, "--format", name, *rules, code=1)[0] for name in formats}
written["html"] = run(nanlens, "report", core, "--html", *rules)[0]
for name, text in written.items():
    plain = Page(text).text if name == "html" else html.unescape(text).replace("\\\"", '"')
    assert unjudged in plain, name
    assert hits[0]["sentence"] in plain, name
flow = sarif(written["sarif"])
assert [(r["ruleId"], r["level"]) for r in flow["results"]][-2:] == [("dead log", "error"), ("]]>|<script>", "note")]
assert [r["shortDescription"]["text"] for r in flow["tool"]["driver"]["rules"]][-2:] == [f["expression"] for f in hits]
suite, cases = junit(written["junit"])
results = {name: [type(r).__name__ for r in c.result] for name, c in cases.items()}
assert results["dead log: Log in control at programs.py"] == ["Failure"] and results["]]>|<script>: Cast at programs.py"] == [], results
assert results["rule never"] == [] and results["rule hot"] == ["Skipped"] and suite.failures == len(ruled["findings"]), results
told = commands(written["github"])
assert ("error", "dead log") in [(kind, p.get("title")) for kind, p, _ in told] and ("notice", "]]>|<script>") in [(kind, p.get("title")) for kind, p, _ in told]
rendered(written["markdown"])

# What fails: an error's rule, unless it is muted or known; nothing else that a rule finds.
judged = answer("clean", "--rule", "in: count>0 type:Input", code=1)
assert judged["verdict"] == "findings" and "count is 1" in judged["headline"], judged["headline"]
suite, cases = junit(check("clean", "--rule", "in: count>0 type:Input", "--format", "junit", code=1))
assert (suite.tests, suite.failures) == (2, 1) and cases["no NaN or infinity"].result == [], "the rule failed, no NaN did"
assert answer("clean", "--rule", "warning in: count>0 type:Input")["counts"]["new"] == 1
assert answer("clean", "--rule", "in: count=0 type:Input")["findings"] == []
assert answer("clean", "--rule", "in: max>0", code=3)["verdict"] == "cannot_tell"
assert answer("clean", "--rule", "note in: max>0")["verdict"] == "clean"
answer("clean", "--strict", "--rule", "note in: max>0", code=3)
write("rules.mutes", 'rule:"big input" -- meant\n')
big = ["--rule", "big input: size>1 type:Input"]
assert [f["muted_by"] for f in answer("clean", *big, "--mutes", "rules.mutes")["findings"]] == ["rules.mutes:1"]
write("rules.json", check("clean", *big, "--format", "json", code=1))
assert [f["state"] for f in answer("clean", *big, "--baseline", "rules.json")["findings"]] == ["known"]
assert [f["state"] for f in answer("clean", *big, "--baseline", os.path.join(logdirs, "clean"))["findings"]] == ["known"]
write("some.rules", "# of ours\nbig input: size>1 type:Input\n\nnote any: count>=0\n")
assert [f["rule"] for f in answer("clean", "--rules", "some.rules", code=1)["findings"]] == ["big input", "any"]
assert len(answer("clean", "--rules", "standard")["rules"]) == 11

# nanlens.rules of the logdir is read where no file is named, and told; a line that is off is a comment.
write("clean/nanlens.rules", "note any: count>=0\n#off big: size>0\nbig input: size>1 type:Input\n")
found = answer("clean", "--rule", "note more: count>=0", code=1)
name = os.path.join("clean", "nanlens.rules")
assert found["rule_files"] == [{"file": name, "rules": 2}] and f"3 rules (2 of {name}): 1 error, 2 notes" in found["headline"], found
assert answer("clean", "--rules", "standard")["rule_files"] == []
assert run(nanlens, "check", "clean", "--rule", "any: count>9999 type:Input", code=1)[1] == f'nanlens: the rule "any" of {name} is left out: --rule has one of that name\n'
os.remove(os.path.join(logdirs, name))

# Of what could not be judged nothing is said; rules that are about rows are not called idle, whatever those hold.
assert "; 1 rule: 1 could not be judged" in check("clean", "--rule", "note in: max>0")
assert "; 2 rules: 1 could not be judged, none of the others holds" in check("clean", "--rule", "note in: max>0", "--rule", "note b: bad")
told = check("clean", *(part for rule in ("a: (zero>50 or nan>0) type:Input", "b: bad type:Input", "c: constant type:Input size>99") for part in ("--rule", "note " + rule)))
assert "; 3 rules: none holds" in told and "no row on record" not in told, told
assert "no row on record for these rules: d" in check("clean", "--rule", "note d: (zero>50 or nan>0) type:Output")
assert check("clean", "--rule", "warning slash: size>1 file:cli/causes.cpp -- its reason", "--format", "json").count("its reason") == 2

# More findings than are listed: the first of each rule is, all are counted, and none is taken for a cause.
run(causes, os.path.join(logdirs, "many"), "clean", *(f"op{i}" for i in range(1004)))
crowd = ["--rule", "note any: size>=0", "--rule", "late: type:op1003 size>=0", "--rule", "all: size>=0"]
late = answer("many", *crowd, code=1)
assert [(r["name"], r["findings"]) for r in late["rules"]] == [("any", 1005), ("late", 1), ("all", 1005)], late["rules"]
assert [f["rule"] for f in late["findings"]] == ["any"] * 1000 + ["late", "all"] and late["not_listed"] == 5 + 1004, late["not_listed"]
assert late["counts"]["new"] == 2 * 1005 + 1 and "3 rules: 1,006 errors, 1,005 notes" in late["headline"], late["headline"]
suite, cases = junit(check("many", *crowd, "--format", "junit", code=1))
assert suite.failures == 2 and next(c for name, c in cases.items() if name.startswith("late: op1003 at")).result and cases["no NaN or infinity"].result == [], suite
write("first.mutes", "rule:all op:Input -- the only one that is listed\n")
muted = answer("many", "--rule", "note any: size>=0", "--rule", "all: size>=0", "--mutes", "first.mutes", code=1)
assert "1,004 errors of rules are not listed" in muted["headline"], muted["headline"]
run(causes, os.path.join(logdirs, "masked"), "two")
write("causes.mutes", "rule:rc.* -- meant\n")
with_rules = answer("masked", *(part for i in range(999) for part in ("--rule", f"warning w{i}: size>=0")), "--mutes", "causes.mutes")
assert with_rules["not_listed"] > 1000 and "2 bad tensors, 2 muted by" in with_rules["headline"] and "findings" not in with_rules["headline"], with_rules["headline"]

# A rule that can't be read: the place, what is wrong, and exit code 2 before anything is read.
assert run(nanlens, "check", "missing", "--rule", "x: bad typ:Log", code=2)[1] == 'nanlens: --rule: there is no "typ:"; did you mean "type:"?\nx: bad typ:Log\n       ^^^\n'
write("bad.rules", "a: bad\n\n  b: max>\n")
assert run(nanlens, "check", "clean", "--rules", "bad.rules", code=2)[1] == "nanlens: bad.rules:3: a number is missing here\n  b: max>\n         ^\n"
assert 'another rule is called "any"' in run(nanlens, "check", "clean", "--rule", "any: bad", "--rule", "any: ok", code=2)[1]
assert "begin with" in run(nanlens, "check", "clean", "--rule", "rc.log0: size>1", code=2)[1]
assert "can't read the rules in '/dev/zero': it is no regular file" in run(nanlens, "check", "clean", "--rules", "/dev/zero", code=2)[1]
assert run(nanlens, "check", "clean", "--rules", work, code=2)[1] == f"nanlens: '{work}' is a directory, not a file of rules\n"
assert "can't read the rules in 'none'" in run(nanlens, "check", "clean", "--rules", "none", code=2)[1]

# What TensorFlow recorded: as much as that tells, and no more.
for name in sorted(n for n in os.listdir(golden) if n.startswith(("core", "filtered", "session"))):
    theirs = answer(os.path.join(golden, name), code=1)
    assert all(f["place"]["path"] for f in theirs["findings"]), theirs["findings"]
    c = theirs["coverage"]
    assert c["modes"] == [name.partition(".")[2]] and c["lost_events"] is None and "whether events were lost is not on record" in c["line"], c
    assert len(theirs["findings"]) == theirs["counts"]["new"] > 0
    flow = sarif(check(os.path.join(golden, name), "--format", "sarif", code=1))
    assert len(flow["results"]) == len(theirs["findings"])
    for result in flow["results"]:  # recorded elsewhere: not below this root
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uri"].startswith("file:///") and "uriBaseId" not in place, place
    junit(check(os.path.join(golden, name), "--format", "junit", code=1))
    commands(check(os.path.join(golden, name), "--format", "github", code=1))

# A recording that did not end in order may have lost more than it says.
cut = os.path.join(logdirs, "cut")
shutil.copytree(os.path.join(logdirs, "clean"), cut)
(metadata,) = (os.path.join(cut, n) for n in os.listdir(cut) if n.endswith(".metadata"))
with open(metadata, "r+b") as f:
    f.truncate(16 + int.from_bytes(f.read(8), "little"))  # without the record that marks the end
torn = answer("cut", code=3)
assert torn["coverage"]["lost_events"] is None and torn["coverage"]["incomplete"] and "whether events were lost is not on record" in check("cut", code=3)

# What could not be read is no loss, and nothing is said to be clean because of it.
told = run(nanlens, "run", "--check", "--hosts", "none", "--logdir", os.path.join(logdirs, "device"), "--", causes, os.path.join(logdirs, "device"), "device", code=3)[1]
words = "The values of 1 tensor are not on record: their memory, such as a GPU's, can't be read here"
assert f"nanlens: no NaN or ∞ on record\nnanlens: {words}\n" in told, told
unread = answer("device", code=3)["coverage"]
assert (unread["lost_events"], unread["incomplete"]) == (0, [words]) and "no event was lost" in check("device", code=3), unread

# No stack on record: no place is made up, and readers of SARIF, who want a file, get the recording.
run(causes, os.path.join(logdirs, "placeless"), "two")
(frames,) = (n for n in os.listdir(os.path.join(logdirs, "placeless")) if n.endswith("stack_frames"))
os.truncate(os.path.join(logdirs, "placeless", frames), 0)
assert [f["place"]["path"] for f in answer("placeless", code=1)["findings"]] == [None, None]
for condition, name in (("file:causes.cpp", "file"), ("-fn:main", "fn"), ("line:1..9", "line")):
    (told,) = answer("placeless", "--rule", f"x: bad {condition}", code=1)["rules"]
    assert told["not_judged"] == f'rule "x" could not be judged: no recording of {name}' and told["findings"] == 0, told
for result in sarif(check("placeless", "--format", "sarif", code=1))["results"]:
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "placeless" and "region" not in where, where
assert all("file" not in properties for _, properties, _ in commands(check("placeless", "--format", "github", code=1)))

# Native code: what did not trap is not on record, and that is said.
if os.path.exists(os.path.join(os.path.dirname(nanlens), "..", "lib", "nanlens", "libnanlens_traps.so")):
    run(nanlens, "run", "--traps", "--logdir", "trapped", "--", os.path.join(os.path.dirname(causes), "solver"))
    trapped = answer("trapped", "--source-root", source, code=1)
    assert [f["rule"] for f in trapped["findings"]] == ["rc.trap"] and trapped["findings"][0]["place"]["path_in_root"] == "examples/solver/solver.c"
    assert "of native code what trapped alone is on record" in trapped["coverage"]["line"], trapped["coverage"]

# A baseline: another recording, or what was written of one.
run(causes, os.path.join(logdirs, "two"), "two")
run(causes, os.path.join(logdirs, "again"), "two")
write("two.json", check("two", "--format", "json", code=1))
write("two.sarif", check("two", "--format", "sarif", code=1))
for baseline in ("two", "two.json", "two.sarif"):
    known = answer("again", "--baseline", baseline)
    assert [f["state"] for f in known["findings"]] == ["known", "known"] and known["counts"] == {"new": 0, "known": 2, "muted": 0}, known
    assert "2 known from " + baseline in known["headline"] and known["baseline"] == {"path": baseline, "gone": 0}, known
less = json.loads(check("two", "--format", "json", code=1))
os.makedirs(os.path.join(logdirs, "tests", "cli"))  # where the program finds its source, so that the text of a line is recorded
shutil.copy(os.path.join(source, "tests", "cli", "causes.cpp"), os.path.join(logdirs, "tests", "cli"))
for mode in ("two", "moved"):
    run(causes, os.path.join(logdirs, mode + ".text"), mode)
moved = answer("moved.text", "--baseline", "two.text")  # the same line, further down
before = answer("two.text", code=1)["findings"]
assert [f["state"] for f in moved["findings"]] == ["known"] and moved["baseline"]["gone"] == 1, moved
assert moved["findings"][0]["place"]["line"] > before[0]["place"]["line"], before
write("tests/cli/causes.cpp", "another text\n" * 100)
run(causes, os.path.join(logdirs, "edited"), "moved")
assert [f["state"] for f in answer("edited", "--baseline", "two.text", code=1)["findings"]] == ["new"]

gone = less["findings"].pop(0)
less["findings"].append({**gone, "fingerprint": "0" * 16})
write("less.json", json.dumps(less))
new = answer("again", "--baseline", "less.json", code=1)
assert sorted(f["state"] for f in new["findings"]) == ["known", "new"] and new["baseline"]["gone"] == 1, new
assert "1 new finding, 1 known from less.json; why: " + gone["sentence"] in new["headline"], new["headline"]
states = {r["partialFingerprints"]["nanlensFinding/v1"]: r["baselineState"]
          for r in sarif(check("again", "--format", "sarif", "--baseline", "less.json", code=1))["results"]}
assert states[gone["fingerprint"]] == "new" and sorted(states.values()) == ["new", "unchanged"], states
suite, _ = junit(check("again", "--format", "junit", "--baseline", "less.json", code=1))
assert (suite.tests, suite.failures, suite.skipped) == (3, 2, 1)
write("other.json", '{"a": 1}')
write("cut.json", '{"format": "nanlens-check", ')
for name, why in (("other.json", "neither"), ("cut.json", "no JSON"), ("missing", "No such file")):
    assert why in run(nanlens, "check", "again", "--baseline", name, code=2)[1], name

# Mutes: counted, never hidden; and what a line does that does nothing.
write("a.mutes", """# a comment
type:Log op:* file:causes.cpp -- logs of zeros are meant here
type:Lo -- the whole type is compared
graph:loss -- no graph has this name
type:Exp
type:Exp until:2027-02-30 -- no such day
  line:7 -- no such condition
op:"an open text -- reason
-- no condition
type:Exp type:Log -- twice
type:Exp --
type:Exp until:2001-01-31 -- long ago
type:Exp until: -- no value
""")
muted = answer("two", "--mutes", "a.mutes", code=1)
by_type = {f["op_type"]: f for f in muted["findings"]}
assert (by_type["Log"]["state"], by_type["Log"]["muted_by"], by_type["Log"]["mute_reason"]) == (
    "muted", "a.mutes:2", "logs of zeros are meant here"), by_type
assert by_type["Exp"]["state"] == "new" and muted["counts"] == {"new": 1, "known": 0, "muted": 1}, muted["counts"]
assert "1 finding, 1 muted by a.mutes:2; why: Exp" in muted["headline"], muted["headline"]
told = [(p["line"], p["column"], p["message"]) for p in muted["mutes"]["problems"]]
expected = [(3, None, "matches nothing"), (4, None, "matches nothing"), (5, 9, "expected '-- ' and the reason"), (6, 16, "expected a date"),
            (7, 3, "expected rule:"), (8, 4, "expected a second '\"'"), (9, 1, "expected a condition before '--'"),
            (10, 10, "expected 'type:' only once"), (11, 12, "expected the reason behind"), (12, None, "expired after 2001-01-31"),
            (13, 16, "expected a value behind 'until:'")]
assert [t[:2] for t in told] == [e[:2] for e in expected] and all(e[2] in t[2] for t, e in zip(told, expected)), told
flow = sarif(check("two", "--format", "sarif", "--mutes", "a.mutes", code=1))
assert {r["properties"]["tensor"]: [s["justification"] for s in r["suppressions"]] for r in flow["results"]} == {
    "Log:0": ["logs of zeros are meant here"], "Exp:0": []}, flow["results"]
assert len(flow["invocations"][0]["toolConfigurationNotifications"]) == len(expected)
suite, cases = junit(check("two", "--format", "junit", "--mutes", "a.mutes", code=1))
assert (suite.tests, suite.failures, suite.skipped) == (3, 2, 1), suite
assert {kind for kind, properties, _ in commands(check("two", "--format", "github", "--mutes", "a.mutes", code=1))
        if properties.get("file") == "a.mutes"} == {"warning"}
for name in ("text", "markdown", "github", "junit"):
    assert "a.mutes:2" in check("two", "--format", name, "--mutes", "a.mutes", code=1), name

assert {f["op_type"]: f["state"] for f in answer("two", "--mutes", "a.mutes", "--baseline", "two.json")["findings"]} == {"Log": "muted", "Exp": "known"}

# All muted: clean, by files that are found: in the logdir, and from the working directory up to its repository's root.
write("two/nanlens.mutes", "type:Log -- in the logdir\n")
os.makedirs(os.path.join(logdirs, "project", "sub"))
os.mkdir(os.path.join(logdirs, "project", ".git"))
write("nanlens.mutes", "type:Input -- above the repository: not read\n")
write("project/nanlens.mutes", "type:E?p rule:rc.* file:cli/causes.cpp  -- of the project\nop:Exp until:2999-12-31 -- the same again\n")
below = os.path.join(logdirs, "project", "sub")
both = answer("two", cwd=below)
assert both["exit_code"] == 0 and [f["state"] for f in both["findings"]] == ["muted", "muted"], both["findings"]
assert both["mutes"] == {"files": [os.path.join(logdirs, "two", "nanlens.mutes"), os.path.join(logdirs, "project", "nanlens.mutes")],
                         "problems": []}, both["mutes"]
assert "clean but for what is muted: 2 bad tensors, 2 muted by " in both["headline"], both["headline"]
place = next(f["place"] for f in both["findings"] if f["op_type"] == "Exp")
write("line.mutes", f"file:causes.cpp:{place['line']} -- this line\nfile:uses.cpp:{place['line']} -- no part of a name\nfile:causes.cpp:1 -- another line\n")
by_line = answer("two", "--mutes", "line.mutes", code=1)
assert [f["muted_by"] for f in by_line["findings"] if f["op_type"] == "Exp"] == ["line.mutes:1"], by_line["findings"]
assert [p["line"] for p in by_line["mutes"]["problems"]] == [2, 3]
assert "can't read the mutes" in run(nanlens, "check", "two", "--mutes", "missing", code=2)[1]
why = json.loads(run(nanlens, "why", os.path.join(logdirs, "two"), "--json", cwd=logdirs)[0])
assert why["headline"]["op_type"] == "Exp" and [c["muted_by"] and c["muted_by"]["reason"] for c in why["causes"]] == ["in the logdir", None], why["causes"]
assert [p["message"] for p in why["mute_problems"]] == ["matches nothing here"], why["mute_problems"]
for command in ("why", "report"):
    told = run(nanlens, command, "two")[0]
    assert "1 of 2 causes is muted, by two/nanlens.mutes:1 (in the logdir)." in told, told
assert "[muted by two/nanlens.mutes:1: in the logdir]" in run(nanlens, "why", "two")[0]

# The workflow's own step, as a runner calls it.
with open(os.path.join(source, "examples", "ci", "github.yml"), encoding="utf-8") as f:
    steps = yaml.safe_load(f)["jobs"]["numerics"]["steps"]
job = os.path.join(logdirs, "job")
shutil.copytree(os.path.join(logdirs, "again"), os.path.join(job, "numerics"))
summary = os.path.join(job, "summary")
ran = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", next(s["run"] for s in steps if s.get("name") == "Check")], cwd=job, stdout=subprocess.PIPE,
                     env={**os.environ, "PATH": os.path.dirname(nanlens) + ":" + os.environ["PATH"], "GITHUB_STEP_SUMMARY": summary})
assert ran.returncode == 1 and len([c for c in commands(ran.stdout.decode()) if c[0] == "error"]) == 3, ran
with open(os.path.join(job, "nanlens.sarif"), encoding="utf-8") as f:
    assert len(sarif(f.read())["results"]) == 2
with open(os.path.join(job, "nanlens.xml"), encoding="utf-8") as f:
    junit(f.read())
with open(summary, encoding="utf-8") as f:
    assert f.read().startswith("## ❌ nanlens check `numerics`")

# What can't be: a format that is none, a file that can't be written.
assert "there are text, json" in run(nanlens, "check", "two", "--format", "xml", code=2)[1]
assert "names no file" in run(nanlens, "check", "two", "--output", "sarif", code=2)[1]
assert "can't write 'missing/x'" in run(nanlens, "check", "two", "--output", "json=missing/x", code=2)[1]
print("every format is what its readers take")
