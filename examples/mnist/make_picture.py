"""Draws a terminal session as an SVG: `nanlens report LOGDIR | make_picture.py COMMAND > report.svg`."""
import html
import sys

command = sys.argv[1]
lines = ["$ " + command] + sys.stdin.read().rstrip().split("\n")
width, line_height, left, top = 100, 19, 18, 46
lines = [line if len(line) <= width else line[:width - 1] + "…" for line in lines]
height = top + line_height * len(lines) + 10


def colour(line):
    if line.startswith("$"):
        return "#9ece6a"
    if "alerts" in line or "Log:0" in line:
        return "#ff5fb0"
    if line.startswith("Run") or "First bad" in line:
        return "#ffffff"
    if " | " in line or "made at" in line or "input " in line:
        return "#ffd479"
    return "#c0c8d8"


print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{left * 2 + width * 8.45:.0f}" height="{height}" role="img">')
print(f'<rect width="100%" height="100%" rx="10" fill="#16181d"/>')
for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840")):
    print(f'<circle cx="{left + 6 + 20 * i}" cy="20" r="6" fill="{c}"/>')
print('<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14">')
for i, line in enumerate(lines):
    print(f'<text x="{left}" y="{top + line_height * i + 10}" fill="{colour(line)}" xml:space="preserve">{html.escape(line)}</text>')
print("</g></svg>")
