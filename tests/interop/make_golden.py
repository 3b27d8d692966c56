"""Makes the golden logdirs of this directory from recordings of the real TensorFlow:

`make_golden.py OUT_DIR LOGDIR...` copies each logdir with the sources of libraries emptied, installation
paths shortened and the host renamed, so that the copies are small and neutral. Then `reference.py` gives TensorFlow's answers.
"""
import os
import re
import shutil
import struct
import sys

import google_crc32c
from tensorflow.core.protobuf import debug_event_pb2

HOST = "golden"


def masked(data):
    crc = google_crc32c.value(bytes(data))
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        (n,) = struct.unpack_from("<Q", data, at)
        yield debug_event_pb2.DebugEvent.FromString(data[at + 12:at + 12 + n])
        at += 16 + n


def write(path, events):
    with open(path, "wb") as f:
        for event in events:
            payload = event.SerializeToString(deterministic=True)
            header = struct.pack("<Q", len(payload))
            f.write(header + struct.pack("<I", masked(header)) + payload + struct.pack("<I", masked(payload)))


def neutral_path(path):
    path = re.sub(r"^.*/site-packages/", "/site-packages/", path)
    path = re.sub(r"^.*/lib/python3\.\d+/", "/lib/python3/", path)
    return re.sub(r"^.*/interop/", "/project/", path)


def neutral(event):
    what = event.WhichOneof("what")
    if what == "source_file":
        source = event.source_file
        source.file_path = neutral_path(source.file_path)
        source.host_name = HOST
        if not source.file_path.startswith("/project/"):
            del source.lines[:]
    elif what in ("execution", "graph_op_creation"):
        getattr(event, what).code_location.host_name = HOST
    return event


def main():
    out = sys.argv[1]
    for logdir in sys.argv[2:]:
        target = os.path.join(out, os.path.basename(logdir))
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        for name in os.listdir(logdir):
            seconds, suffix = name.split(".")[1], name.rsplit(".", 1)[1]
            write(os.path.join(target, f"tfdbg_events.{seconds}.{HOST}.{suffix}"),
                  [neutral(e) for e in read(os.path.join(logdir, name))])


if __name__ == "__main__":
    main()
