"""Puts the page together: `compose.py SHELL PROGRAM_JS PROGRAM_WASM PAGE [SAMPLE]`. The program goes in compressed, which
makes the page half as large; the browser unpacks it. The sample is an archive, compressed already."""
import base64
import gzip
import sys

shell, script, program, page, *samples = sys.argv[1:]
with open(shell, encoding="utf-8") as f:
    html = f.read()
with open(script, encoding="utf-8") as f:
    script_text = f.read()
with open(program, "rb") as f:
    packed = base64.b64encode(gzip.compress(f.read(), 9, mtime=0)).decode()
sample = ""
for path in samples:
    with open(path, "rb") as f:
        sample = base64.b64encode(f.read()).decode()
if "</script" in script_text:
    sys.exit(f"{script} holds the end of a script element: it can't stand in a page as it is")
for mark, text in (("@PROGRAM@", packed), ("@SAMPLE@", sample), ("@SCRIPT@", script_text)):
    if html.count(mark) != 1:
        sys.exit(f"{shell} must hold {mark} once")
    html = html.replace(mark, text)
with open(page, "w", encoding="utf-8") as f:
    f.write(html)
