"""Checks that includes point downward only, in the headers, the viewer and the page: `layers.py SOURCE_DIR`, and that README.md
says so."""
import pathlib
import re
import sys

# What each layer may include besides itself.
HEADERS = {
    "tensor": set(),
    "summary": {"tensor"},
    "logdir": {"tensor", "summary"},
    "language": {"tensor", "summary", "logdir"},
    "capture": {"tensor", "summary", "logdir", "language"},
    "hosts": {"tensor", "summary", "logdir", "capture"},
    "reader": {"tensor", "summary", "logdir"},
    "causes": {"tensor", "summary", "logdir", "reader"},
    "query": {"tensor", "summary", "logdir", "language", "reader", "causes"},
    "archive": {"tensor", "summary", "logdir", "reader"},
}
# What of query/ asks one tensor alone, and knows no logdir: programs that record judge by it, too.
LANGUAGE = {"calls", "error", "facts", "lower_case", "match", "names", "nearest_rules", "node", "numbers", "parser", "regex", "rule_parts", "rule_reader",
            "scanner", "seen", "standard_rules", "tensor_conditions", "truth"}
VIEWER = {
    "texts": set(),
    "report": {"texts"},
    "regex": set(),
    "engine": {"texts", "report", "regex"},
    "widgets": {"texts", "engine"},
    "app": {"texts", "engine", "widgets"},
    "panes": {"texts", "engine", "widgets", "app"},
    "desktop": {"texts", "report", "share", "engine", "widgets", "app", "panes"},
    "wasm": {"texts", "engine", "widgets", "app", "panes"},
    "findings": {"texts", "report"},
    "share": {"report"},
    "cli": {"texts", "report", "findings", "regex", "share"},
}
# The recorder is no part of the viewer: it reads what others recorded.
READING = {"tensor", "summary", "logdir", "reader", "causes", "query", "archive"}
# What nanlens.hpp must not drag into a host.
FORBIDDEN = {"regex", "iostream", "fstream", "sstream", "filesystem", "immintrin.h"}
# What draws, and JSON, belong where they are named.
ONLY_IN = {"imgui": {"widgets", "app", "panes", "desktop", "wasm"}, "nlohmann": {"app", "cli", "findings"}, "re2": {"regex"},
           "CLI": {"desktop", "cli"}, "GLFW": {"desktop"}, "emscripten": {"wasm"}}
ROOT = {"config.hpp", "version.hpp", "c.h"}


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.M)


def sources(root):
    return [p for p in sorted(root.rglob("*")) if p.suffix in (".hpp", ".cpp", ".inl", ".inc")]


def layer_of(parts):
    """Of the path of a header below nanlens/."""
    if parts[0] == "query" and parts[-1].split(".")[0] in LANGUAGE:
        return "language"
    return parts[0] if len(parts) > 1 else None


def faults_of_header(path, layer):
    for header in includes(path):
        if header.startswith("nanlens/"):
            target = header.split("/")[1:]
            target[0] = layer_of(target) or target[0]
            if layer is None or target[0] == layer or (len(target) == 1 and target[0] in ROOT):
                continue
            if len(target) == 1 and target[0] == "nanlens.hpp" and layer == "hosts":
                continue
            if target[0] not in HEADERS[layer]:
                yield f"{layer} must not include {header}"
        elif layer in ("tensor", "summary", "logdir", "language", "capture") and header in FORBIDDEN:
            yield f"includes <{header}>"


def faults_of_viewer(path, layer):
    for header in includes(path):
        first = re.split(r"[/_.]", header)[0]
        target = header.split("/")[0] if "/" in header else None
        if target == "nanlens":
            if header.split("/")[1] not in READING | ROOT:
                yield f"the viewer must not include {header}"
        elif target in VIEWER and target != layer and target not in VIEWER[layer]:
            yield f"{layer} must not include {header}"
        elif first in ONLY_IN and layer not in ONLY_IN[first]:
            yield f"{layer} must not include {header}"


def faults_of_readme(text, folder, layers):
    """README.md's chains `a` ← `b`, `c`; `d` ← …: includes point only to the left, and neighbours do include each other."""
    sentence = re.search(rf"Layers in `{folder}/`(.*?)(?=Layers in|Tests mirror)", text, re.S)
    if not sentence:
        yield f"README.md: no layers in {folder}/"
        return
    left_of = {}
    for chain in re.sub(r"\([^)]*\)", "", sentence[1]).split(";"):
        groups = [re.findall(r"`(\w+)`", group) for group in chain.split("←")]
        for left, right in zip(groups, groups[1:]):
            for layer in right:
                for other in left:
                    left_of.setdefault(layer, set()).update({other} | left_of.get(other, set()))
                    if other not in layers.get(layer, set()):
                        yield f"README.md: {layer} does not include {other}"
    for layer, below in layers.items():
        for other in sorted(below - left_of.get(layer, set())):
            yield f"README.md: {layer} includes {other}, which is not to its left"


def main():
    source = pathlib.Path(sys.argv[1])
    faults = []
    count = 0
    for root, check in (("include/nanlens", faults_of_header), ("viewer", faults_of_viewer), ("wasm", faults_of_viewer)):
        for path in sources(source / root):
            parts = path.relative_to(source / root).parts
            layer = "wasm" if root == "wasm" else layer_of(parts) if root == "include/nanlens" else parts[0] if len(parts) > 1 else None
            if root == "viewer" and layer not in VIEWER:
                faults.append(f"{path}: no layer is called {layer}")
                continue
            faults += [f"{path}: {fault}" for fault in check(path, layer)]
            count += 1
    readme = (source / "README.md").read_text(encoding="utf-8")
    for folder, layers in (("include/nanlens", HEADERS), ("viewer", VIEWER)):
        faults += faults_of_readme(readme, folder, layers)
    print("\n".join(faults) or f"{count} files: every include points down")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
