"""Looks at every use of a text in the viewer: `texts.py VIEWER_DIR WASM_DIR`. Each text of strings.def is used, and gets a value for
each of its placeholders, and no others. What one word of English is about has one word in each language."""
import pathlib
import re
import sys


TONGUES = ("de", "ja", "ko", "zh_tw", "pt_br")
# By a word of English: what each language calls it, but where it means something else.
WORDS = {
    r"(?<!had )(?<!nanlens )[Rr]uns?(?! it)": ("[Ll]auf|[Ll]äufe", "ラン", "런", "程式執行", "[Rr]odada"),
    "[Ee]xecutions?": ("Ausführung|Zeilenabstand", "実行", "실행", "執行", "[Ee]xecuç|do tempo"),
    "[Aa]lerts?": ("Alarm", "アラート", "경보", "警示", "[Aa]lerta"),
    "[Rr]ules?(?!:)": ("[Rr]egel", "ルール", "규칙", "規則", "[Rr]egra"),
    "[Mm]ute[ds]": ("[Ss]tumm", "ミュート", "음소거", "靜音", "[Ss]ilenci"),
    "[Ff]indings?": ("Befund", "検出", "발견", "發現|找到", "[Aa]chado"),
    "[Ii]nputs?": ("Eingabe", "入力", "입력", "輸入", "[Ee]ntrada"),
    "[Oo]utputs?": ("Ausgabe", "出力", "출력", "輸出", "[Ss]aída"),
    "[Rr]ows?": ("[Zz]eile", "行", "행", "列", "[Ll]inha"),
    "on record|recorded": ("[Aa]ufzeich|[Aa]ufgezeichnet", "記録", "기록", "記錄", "[Gg]rava"),
}


def other_words(texts, directory):
    """Texts that call something otherwise than the others of their language do."""
    for number, tongue in enumerate(TONGUES):
        translated = dict(re.findall(r'^X\((\w+), "(.*)"\)$', (directory / f"strings_{tongue}.def").read_text(), re.M))
        for word, names in WORDS.items():
            for name, text in texts.items():
                text = re.sub(r"\{\w+(:\w+)?\}|\{\w+(?=\|)|nanlens\.\w+|`[^`]*`|--\w+", "", text)
                if re.search(rf"\b({word})\b", text) and name in translated and not re.search(names[number], translated[name]):
                    yield f"strings_{tongue}.def: {name} has another word than {names[number]} for {word}"


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
    faults += other_words(texts, viewer / "texts")
    print("\n".join(faults) or f"{len(texts)} texts, all used, all placeholders filled")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
