"""Reports in German and Japanese are those of tests/cli/languages, byte by byte, and every language says what `check` finds:
`languages_test.py NANLENS RULED GOLDEN_DIR TEXTS_DIR [--write]`."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

command, ruled, golden, texts = (pathlib.Path(path).resolve() for path in sys.argv[1:5])
source = pathlib.Path(__file__).resolve().parents[2]
write = "--write" in sys.argv
logdirs = ["core.FULL_HEALTH", "core.CURT_HEALTH", "session.FULL_HEALTH"]
commands = ["why", "report", "check"]
tags = ("en", "de", "ja", "ko", "zh-TW", "pt-BR")
# What check and the page say beside causes: a rule of each level, one that nothing can be judged by, one that nothing on record is
# about, mutes, and lines of the file of mutes that do nothing.
judging = ["--rule", "dead log: ninf>0 type:Log for 3 calls -- take care", "--rule", "warning zeros: zero>=33% type:Cast",
           "--rule", "note many: count>0 type:Log", "--rule", "hot: max>5", "--rule", "idle: type:Conv2D size>1"]
muting = ["--mutes", texts / "some.mutes"]
dead = "dead relu: zero>95% type:Relu for 3 calls -- take care"  # what a program judges by


def started(*arguments, cwd=golden, **environment):
    """A command that has run, where no locale asks for a language."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NANLENS_LANG", "LC_ALL", "LC_MESSAGES")}
    return subprocess.run([command, *arguments], cwd=cwd, env={**clean, "LANG": "C", **environment}, capture_output=True, check=False)


def said(*arguments, **environment):
    """What the command prints; paths are those of the logdirs alone."""
    done = started(*arguments, **environment)
    assert done.returncode in (0, 1) and not done.stderr, (arguments, done)
    return done.stdout


def damaged(directory):
    """A copy of a logdir of which three files are damaged, each in its own way."""
    shutil.copytree(golden / logdirs[0], pathlib.Path(directory) / "damaged")
    for path in (pathlib.Path(directory) / "damaged").iterdir():
        content = bytearray(path.read_bytes())
        if path.name.endswith(".graphs"):
            content[12] ^= 1
        elif path.name.endswith(".stack_frames"):
            content[0] ^= 1
        elif path.name.endswith(".graph_execution_traces"):
            del content[-5:]
        path.write_bytes(content)


def written(tag, directory):
    """Every form of a report in a language, by the command that writes it; without the version and the test's own place."""
    calls = {"report --html": ["report", "--html", *judging]}
    for name in ("text", "markdown", "junit", "github"):
        calls[f"check --format {name}"] = ["check", "--format", name, *judging, *muting]
    outputs = {name: said(*arguments, logdirs[0], "--lang", tag) for name, arguments in calls.items()}
    for name in ("report", "check"):
        outputs[f"{name} damaged"] = started(name, "damaged", "--lang", tag, cwd=directory).stdout
    version = said("--version").strip()
    return {name: text.replace(version, b"VERSION").replace(str(texts).encode(), b".") for name, text in outputs.items()}


def compare(file, text):
    if write:
        file.write_bytes(text)
    assert text == file.read_bytes(), f"{file} has another text; --write takes over what is said now"


def fixed():
    """German and Japanese, byte by byte"""
    for tag in ("de", "ja"):
        text = b"".join(b"$ nanlens " + f"{name} {logdir}\n".encode() + said(name, logdir, "--lang", tag)
                        for name in commands for logdir in logdirs)
        compare(texts / f"{tag}.txt", text)
        with tempfile.TemporaryDirectory() as directory:
            damaged(directory)
            formats = written(tag, directory)
        compare(texts / f"{tag}.formats.txt", b"".join(f"$ nanlens {name}\n".encode() + text for name, text in formats.items()))


def chosen():
    """by --lang, by NANLENS_LANG, by the system's; programs get English unless they ask"""
    english, german = said("why", logdirs[0]), said("why", logdirs[0], "--lang", "de")
    assert english != german
    assert said("why", logdirs[0], LANG="de_AT.UTF-8") == german
    assert said("why", logdirs[0], NANLENS_LANG="de", LC_ALL="ja_JP.UTF-8") == german
    assert said("why", logdirs[0], "--lang", "en", NANLENS_LANG="de") == english
    assert said("why", logdirs[0], LC_ALL="fr_FR.UTF-8") == english
    for arguments in (["why", "--json"], *(["check", "--format", name] for name in ("json", "sarif", "junit", "github")),
                      ["check", "--output", "sarif=/dev/null"]):
        english = said(*arguments, logdirs[0])
        assert said(*arguments, logdirs[0], LANG="de_DE.UTF-8") == english, arguments
        assert said(*arguments, logdirs[0], NANLENS_LANG="de", LANG="ja_JP.UTF-8") == english, arguments
        assert said(*arguments, logdirs[0], "--lang", "de") != english, arguments
    markdown = ["check", "--format", "markdown", logdirs[0]]
    assert said(*markdown, NANLENS_LANG="de") == said(*markdown, "--lang", "de") != said(*markdown)
    unknown = subprocess.run([command, "why", golden / logdirs[0], "--lang", "tlh"], capture_output=True, check=False)
    assert unknown.returncode == 2 and b"zh-TW" in unknown.stderr, unknown


def same_findings():
    """fingerprints, states, levels and ids are the same in every language, also of rules and of what is muted; sentences are not"""
    def kept(report):
        return ([[f[key] for key in ("rule", "fingerprint", "state", "level", "op_name", "place")] for f in report["findings"]],
                [[r[key] for key in ("name", "level")] for r in report["rules"]], report["verdict"], report["exit_code"])

    def kept_of_sarif(report):
        run = report["runs"][0]
        return ([(rule["id"], rule["shortDescription"]) for rule in run["tool"]["driver"]["rules"]],
                [(r["ruleId"], r["level"], r["partialFingerprints"], "suppressions" in r) for r in run["results"]])

    def levels(junit):
        return re.findall(rb"<system-out>(\w+): ", junit)

    asked = ["check", logdirs[0], *judging, *muting]
    found = {tag: json.loads(said(*asked, "--format", "json", "--lang", tag)) for tag in tags}
    sarif = {tag: json.loads(said(*asked, "--format", "sarif", "--lang", tag)) for tag in tags}
    junit = {tag: said(*asked, "--format", "junit", "--lang", tag) for tag in tags}
    assert {"new", "muted"} <= {f["state"] for f in found["en"]["findings"]}, kept(found["en"])
    assert {b"note", b"warning"} <= set(levels(junit["en"])), levels(junit["en"])
    for tag in tags[1:]:
        assert kept(found[tag]) == kept(found["en"]), tag
        assert kept_of_sarif(sarif[tag]) == kept_of_sarif(sarif["en"]), tag
        assert levels(junit[tag]) == levels(junit["en"]), tag
    assert len({report["findings"][0]["sentence"] for report in found.values()}) == len(found)


def whole():
    """no format in any language has a name in braces, or two blanks"""
    with tempfile.TemporaryDirectory() as directory:
        damaged(directory)
        for tag in tags[1:]:
            for name, text in written(tag, directory).items():
                told = re.sub(rb"<style>.*?</style>", b"", text, flags=re.S)
                assert not re.search(rb"\{\w+(:\w+|\|[^}]*)?\}", told), (tag, name)
                if "html" in name or "github" in name:
                    assert not re.search(rb"\w  \w", re.sub(rb"<pre>.*?</pre>", b"", told, flags=re.S)), (tag, name)


def words_of(*paths):
    """Every word of the texts in files of the source; names in braces are none."""
    found = set()
    for path in paths:
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', (source / path).read_text()):
            text = re.sub(r"\{\w+\|([^}]*)\}", lambda forms: forms[1].replace("|", " "), text)
            found |= {word.lower() for word in re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[^}]*\}|\\n", " ", text))}
    return found


def prose(text, given):
    """The words of an output that are no tags, source lines, choices, what was given, or parts of names, as of files and conditions"""
    text = re.sub(r"<style>.*?</style>|<pre>.*?</pre>|<[^>]*>|\{[^}]*\}", " ", text, flags=re.S)
    text = re.sub(given, " ", html.unescape(text))
    text = re.sub(r"^\W*\d+ \|.*$|\b(error|warning|note):|'[^']*'|`[^`]*`", " ", text, flags=re.M)
    return re.findall(r"(?<![\w./:@#=<>%(-])[A-Za-z][a-z]+(?![\w./@(=<>%-]|:\S)", text)


def told(directory):
    """The commands that say something in words, of recordings with and without rules of the program's own"""
    held, stopped, broken = (pathlib.Path(directory) / name for name in ("held", "stopped", "damaged"))
    for logdir, stop in ((held, "0"), (stopped, "1")):
        subprocess.run([ruled], capture_output=True, check=False,
                       env={**os.environ, "NANLENS_LOGDIR": str(logdir), "NANLENS_RULES": dead, "NANLENS_RULES_STOP": stop})
    damaged(directory)
    for logdir in [*(golden / name for name in logdirs), held, stopped, broken]:
        for name in ("why", "report"):
            yield [name, logdir]
        yield ["report", logdir, "--html", *judging]
        for name in ("text", "markdown", "junit", "github"):
            yield ["check", logdir, "--format", name, "--rules", "standard", *judging, *muting]
        yield ["check", logdir, "--strict"]
    yield ["why", golden / logdirs[0], "--row", "20"]
    yield ["why", golden / logdirs[0], "--execution", "3"]
    for name in re.findall(r"^  ([a-z]+)  ", said("--help").decode(), re.M):
        yield [name, "--help"]


def own_words():
    """no word of English is left over in another language, but names and what was given"""
    english = words_of("viewer/texts/strings.def", "include/nanlens/causes/sayings.inl", "include/nanlens/reader/faults.inl", "viewer/cli/main.cpp")
    english |= set("the and with while was were had has not but then than from by of is it its".split())
    names = {"relu", "mean", "rate", "main"}  # of ops and functions
    for row in b"".join(said("dump", "--what", "ops", name) for name in logdirs).splitlines():
        names |= {word.lower() for word in re.findall(r"[A-Za-z]{2,}", json.loads(row)["op_type"])}
    rules = re.findall(r"^(?:warning|note) .*(?= -- )", (source / "include/nanlens/query/standard_rules.hpp").read_text(), re.M)
    lines = [dead, *judging[1::2], *rules, *(texts / "some.mutes").read_text().splitlines()]
    given = [part for line in lines for part in re.split(": | -- ", re.sub("^(warning|note) ", "", line))]
    given = "|".join(re.escape(part) for part in sorted(given, key=len, reverse=True))
    with tempfile.TemporaryDirectory() as directory:
        calls = list(told(directory))
        for tag in tags[1:]:
            file = tag.lower().replace("-", "_")
            own = words_of(*(f"viewer/texts/{kind}_{file}.def" for kind in ("strings", "sayings", "faults", "help")))
            for call in calls:
                text = started(*call, "--lang", tag).stdout.decode()
                left = [word for word in prose(text, given) if word.lower() in english - own - names]
                assert not left, (tag, [str(word) for word in call], left)


def columns(text):
    """How many columns a text takes in a terminal"""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def descriptions(text):
    """The right column of a help text by the name in its left one, which ends at the 30th column, or has a line of its own."""
    found, lines = {}, text.decode().split("\n")
    for line, following in zip(lines, [*lines[1:], ""]):
        if not re.match(r"  \S", line):
            continue
        alone = following.startswith(" " * 30)
        end = 0 if alone else next(i for i in range(len(line) + 1) if columns(line[:i]) >= 30)
        assert alone or (columns(line[:end]) == 30 and line[end - 1] == " " and line[end] != " "), line
        found[line.split()[0]] = (following if alone else line[end:]).strip()
    return found


# What is typed as it stands, in every language: names of files, of variables, of options, of commands, and LOGDIR.
typed = re.compile(r"\b[a-z]\w*\.[a-z]{2,}\b|\bLOGDIR\b|\b[A-Z]+_[A-Z]+\b|--[a-z][a-z-]*|'[a-z][a-z ]*'")


def helped():
    """every command and every option is described in every language, and wrong use and failures are told in it"""
    english = descriptions(said("--help"))
    names = [left for left in english if re.fullmatch(r"[a-z]+", left)]
    assert {"report", "run", "on"} <= set(names), names
    for tag in tags[1:]:
        for command_name in ([], *([name] for name in names)):
            original = descriptions(said(*command_name, "--help"))
            translated = descriptions(said(*command_name, "--help", NANLENS_LANG=tag))
            assert original.keys() == translated.keys() and len(original) > 1, (tag, command_name, original, translated)
            for left, words in original.items():
                assert words and translated[left] and translated[left] != words, f"help_*.def of {tag}: {command_name} {left}"
                for name in typed.findall(words):
                    assert name in translated[left], f"help_*.def of {tag}: {command_name} {left} lacks {name}"
        wrong = [started(*a, NANLENS_LANG=tag) for a in (["why"], ["why", "a", "b"], ["why", "a", "--row", "x"], ["why", "a", "--row"],
                                                         ["why", "a", "--row", "1", "--execution", "2"], ["report", "a", "-o", "b"], [], ["dump"],
                                                         ["onnx", "a", "--instrument"])]
        for done in wrong:
            assert done.returncode == 2 and not re.search(rb"required|expected|excludes|requires|convert|needs|Run with", done.stderr), done
    row, baseline = ["--row", "99999"], texts / "some.mutes"
    for words in (["why", "nowhere"], ["check", texts], ["why", logdirs[0], *row], ["why", logdirs[0], "--run", "x"],
                  ["check", logdirs[0], "--baseline", baseline], ["check", logdirs[0], "--rules", texts]):
        failed = {tag: started(*words, NANLENS_LANG=tag) for tag in tags}
        assert all(done.returncode == 2 and not done.stdout for done in failed.values()), failed
        assert len({done.stderr for done in failed.values()}) == len(tags), failed
        assert not any(re.search(rb"can't|\b(there|it|the|has|neither)\b", failed[tag].stderr) for tag in tags[1:]), failed
    assert said("why", "--help", "--lang", "ja") == said("why", "--help", LC_ALL="ja_JP.UTF-8") != said("why", "--help")


for test in (fixed, chosen, same_findings, whole, own_words, helped):
    test()
    print("ok:", test.__doc__)
