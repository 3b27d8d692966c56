"""Reports in German and Japanese are those of tests/cli/languages, byte by byte, and every language says what `check` finds:
`languages_test.py NANLENS GOLDEN_DIR TEXTS_DIR [--write]`."""
import json
import os
import pathlib
import subprocess
import sys

command, golden, texts = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
write = "--write" in sys.argv
logdirs = ["core.FULL_HEALTH", "core.CURT_HEALTH", "session.FULL_HEALTH"]
commands = ["why", "report", "check"]


def said(*arguments, **environment):
    """What the command prints, where no locale asks for a language; paths are those of the logdirs alone."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NANLENS_LANG", "LC_ALL", "LC_MESSAGES")}
    done = subprocess.run([command, *arguments], cwd=golden, env={**clean, "LANG": "C", **environment},
                          capture_output=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, (arguments, done)
    return done.stdout


def fixed():
    """German and Japanese, byte by byte"""
    for tag in ("de", "ja"):
        text = b"".join(b"$ nanlens " + f"{name} {logdir}\n".encode() + said(name, logdir, "--lang", tag)
                        for name in commands for logdir in logdirs)
        file = texts / f"{tag}.txt"
        if write:
            file.write_bytes(text)
        assert text == file.read_bytes(), f"{file} has another text; --write takes over what is said now"


def chosen():
    """by --lang, by NANLENS_LANG, by the system's; programs get English unless they ask"""
    english, german = said("why", logdirs[0]), said("why", logdirs[0], "--lang", "de")
    assert english != german
    assert said("why", logdirs[0], LANG="de_AT.UTF-8") == german
    assert said("why", logdirs[0], NANLENS_LANG="de", LC_ALL="ja_JP.UTF-8") == german
    assert said("why", logdirs[0], "--lang", "en", NANLENS_LANG="de") == english
    assert said("why", logdirs[0], LC_ALL="fr_FR.UTF-8") == english
    for arguments in (["why", "--json"], ["check", "--format", "json"], ["check", "--format", "sarif"]):
        assert said(*arguments, logdirs[0], LANG="de_DE.UTF-8") == said(*arguments, logdirs[0]), arguments
    unknown = subprocess.run([command, "why", golden / logdirs[0], "--lang", "tlh"], capture_output=True, check=False)
    assert unknown.returncode == 2 and b"zh-TW" in unknown.stderr, unknown


def same_findings():
    """fingerprints, places and kinds are the same in every language, sentences are not"""
    found = {}
    for tag in ("en", "de", "ja", "ko", "zh-TW", "pt-BR"):
        report = json.loads(said("check", logdirs[0], "--format", "json", "--lang", tag))
        found[tag] = report["findings"]
    for tag, findings in found.items():
        assert [f["fingerprint"] for f in findings] == [f["fingerprint"] for f in found["en"]], tag
    assert len({findings[0]["sentence"] for findings in found.values()}) == len(found)


for test in (fixed, chosen, same_findings):
    test()
    print("ok:", test.__doc__)
