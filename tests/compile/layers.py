"""Checks that includes point downward only: `layers.py INCLUDE_DIR`."""
import pathlib
import re
import sys

BELOW = {
    "tensor": set(),
    "summary": {"tensor"},
    "logdir": {"tensor", "summary"},
    "capture": {"tensor", "summary", "logdir"},
    "hosts": {"tensor", "summary", "logdir", "capture"},
    "reader": {"tensor", "summary", "logdir"},
    "causes": {"tensor", "summary", "logdir", "reader"},
    "archive": {"tensor", "summary", "logdir", "reader"},
}
# What nanlens.hpp must not drag into a host.
FORBIDDEN = {"regex", "iostream", "fstream", "sstream", "filesystem", "immintrin.h"}
ROOT = {"config.hpp", "version.hpp"}


def main():
    root = pathlib.Path(sys.argv[1]) / "nanlens"
    faults = []
    files = [p for p in root.rglob("*") if p.suffix in (".hpp", ".inl", ".inc")]
    for path in files:
        parts = path.relative_to(root).parts
        layer = parts[0] if len(parts) > 1 else None
        for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.M):
            if header.startswith("nanlens/"):
                target = header.split("/")[1:]
                if layer is None or target[0] == layer or (len(target) == 1 and target[0] in ROOT):
                    continue
                if len(target) == 1 and target[0] == "nanlens.hpp" and layer == "hosts":
                    continue
                if target[0] not in BELOW[layer]:
                    faults.append(f"{path}: {layer} must not include {header}")
            elif layer in ("tensor", "summary", "logdir", "capture") and header in FORBIDDEN:
                faults.append(f"{path}: includes <{header}>")
    print("\n".join(faults) or f"{len(files)} headers: every include points down")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
