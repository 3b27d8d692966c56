#!/bin/sh
# Makes README.md's pictures of the languages, of what is muted, of a report and of a shared page, all of the walkthrough:
# `make.sh BIN_DIR PAGE PLAYWRIGHT_FROM`. The page is nanlens.html, the last one the directory with node_modules/playwright-core.
set -eu
BIN=$(cd "$1" && pwd)
page=$(realpath "$2")
playwright=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d "$source/build/pictures.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export BIN XDG_CONFIG_HOME="$work" XDG_STATE_HOME="$work" XDG_DATA_HOME="$work" LIBGL_ALWAYS_SOFTWARE=1

"$BIN/mnist" --max_steps 2 --test_size 100 --dump_dir bug --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
cp -r bug muted
echo 'type:Log op:Log file:model.cpp -- the clipped labels: a loss of zero is meant' >muted/nanlens.mutes

# save PICTURE NAME: in few colours.
save() { convert "$1" -dither None -colors 96 -strip -define png:compression-level=9 "$here/$2.png"; }

# A window's picture, once the cause is found: shoot.sh LOGDIR LANGUAGE.
cat >shoot.sh <<'END'
"$BIN/nanlens-viewer" --theme light --lang "$2" --width 1100 --height 700 --state "state-$1-$2.json" "$1" &
viewer=$!
for _ in $(seq 240); do
  grep -q '"sentence":"[^"]' "state-$1-$2.json" 2>/dev/null && break
  sleep 0.5
done
sleep 4 # what moves has come to rest
import -window root "$1-$2.png"
kill "$viewer"
END
for tongue in en de ja ko zh-TW pt-BR; do
  xvfb-run -a -s "-screen 0 1100x700x24" sh shoot.sh bug "$tongue"
  convert "bug-$tongue.png" -crop 1100x118+0+0 +repage "strip-$tongue.png"
done
convert strip-en.png strip-de.png strip-ja.png strip-ko.png strip-zh-TW.png strip-pt-BR.png -bordercolor '#888888' -border 0x1 -append languages.png
save languages.png languages
xvfb-run -a -s "-screen 0 1100x700x24" sh shoot.sh muted en
convert muted-en.png -crop 1100x470+0+0 +repage muted-part.png
save muted-part.png muted

# Paths of sources are told from the root of the sources on.
(cd "$source" && "$BIN/nanlens" report "${work#"$source/"}/bug" --html --rule 'saturated softmax: zero>0 type:Softmax -- the logits are too large' -o "$work/report.html")
"$BIN/nanlens" share bug --redact "$source" --page "$page" -o shared.html
cat >shoot.mjs <<'END'
import { createRequire } from 'node:module';
const [playwright, directory] = process.argv.slice(2);
const { chromium } = createRequire(playwright + '/')('playwright-core');
const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
const report = await browser.newPage({ viewport: { width: 960, height: 1180 } });
await report.goto(`file://${directory}/report.html`);
await report.screenshot({ path: 'report.png' });
const shared = await browser.newPage({ viewport: { width: 1100, height: 700 } });
await shared.goto(`file://${directory}/shared.html`);
await shared.waitForFunction(() => window.nanlens?.state?.()?.verdict?.sentence);
await shared.waitForTimeout(3000); // what moves has come to rest
await shared.screenshot({ path: 'shared.png' });
await browser.close();
END
node shoot.mjs "$playwright" "$work"
save report.png report
save shared.png shared
