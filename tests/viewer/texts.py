"""Looks at every use of a text in the viewer: `texts.py VIEWER_DIR WASM_DIR`. Each text of strings.def is used, and gets a value for
each of its placeholders, and no others."""
import pathlib
import re
import sys


def arguments(source, at):
    """What stands between the bracket before `at` and the one that closes it."""
    depth, begin = 1, at
    while depth > 0:
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return source[begin:at - 1]


def main():
    viewer, wasm = map(pathlib.Path, sys.argv[1:3])
    texts = dict(re.findall(r'^X\((\w+), "(.*)"\)$', (viewer / "texts/strings.def").read_text(), re.M))
    placeholders = {name: set(re.findall(r"{(\w+)", text)) for name, text in texts.items()}
    used, faults = set(), []
    for path in sorted([*viewer.rglob("*.[ch]pp"), *wasm.glob("*.cpp")]):
        source = path.read_text()
        used |= set(re.findall(r"Text::(\w+)", source))
        for call in re.finditer(r"\btr\(", source):
            inside = arguments(source, call.end())
            ids = re.findall(r"Text::(\w+)", inside.split("{{")[0])
            given = set(re.findall(r'{"(\w+)",', inside)) if "{{" in inside else set()
            wanted = set().union(*(placeholders.get(name, set()) for name in ids))
            if ids and given != wanted:
                faults.append(f"{path}: {', '.join(ids)} gets {sorted(given)}, not {sorted(wanted)}")
    faults += [f"strings.def: {name} is not used" for name in texts if name not in used]
    print("\n".join(faults) or f"{len(texts)} texts, all used, all placeholders filled")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
