#!/bin/sh
# Makes README.md's pictures, all of the walkthrough: of the desktop viewer and of the page, of the languages, of what is muted, of a
# report and of a shared page: `make.sh BIN_DIR PAGE PLAYWRIGHT_FROM`. The page is nanlens.html, the last one the directory with
# node_modules/playwright-core. Paths in them are those of the sources that mnist was built from.
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

"$BIN/mnist" --dump_dir walkthrough --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
"$BIN/mnist" --max_steps 2 --test_size 100 --dump_dir bug --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1 >/dev/null
cp -r bug muted
echo 'type:Log op:Log file:model.cpp -- the clipped labels: a loss of zero is meant' >muted/nanlens.mutes

# save PICTURE NAME: in few colours.
save() { convert "$1" -dither None -colors 96 -strip -define png:compression-level=9 "$here/$2.png"; }

# A window's picture, once the cause is found: shoot.sh LOGDIR LANGUAGE THEME WIDTH HEIGHT.
cat >shoot.sh <<'END'
"$BIN/nanlens-viewer" --theme "$3" --lang "$2" --width "$4" --height "$5" --state "state-$1-$2-$3.json" "$1" &
viewer=$!
for _ in $(seq 240); do
  grep -q '"sentence":"[^"]' "state-$1-$2-$3.json" 2>/dev/null && break
  sleep 0.5
done
sleep 4 # what moves has come to rest
import -window root "$1-$2-$3.png"
kill "$viewer"
END
shoot() { xvfb-run -a -s "-screen 0 $4x$5x24" sh shoot.sh "$@"; }
for theme in light dark; do
  shoot walkthrough en "$theme" 1280 720
  save "walkthrough-en-$theme.png" "desktop-$theme"
done
for tongue in en de ja ko zh-TW pt-BR; do
  shoot bug "$tongue" light 1100 700
  convert "bug-$tongue-light.png" -crop 1100x118+0+0 +repage "strip-$tongue.png"
done
convert strip-en.png strip-de.png strip-ja.png strip-ko.png strip-zh-TW.png strip-pt-BR.png -bordercolor '#888888' -border 0x1 -append languages.png
save languages.png languages
shoot muted en light 1100 700
convert muted-en-light.png -crop 1100x470+0+0 +repage muted-part.png
save muted-part.png muted

# Paths of sources are told from the root of the sources on.
(cd "$source" && "$BIN/nanlens" report "${work#"$source/"}/bug" --html --rule 'saturated softmax: zero>0 type:Softmax -- the logits are too large' -o "$work/report.html")
"$BIN/nanlens" share bug --redact "$source" --page "$page" -o shared.html
cat >shoot.mjs <<'END'
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
const [playwright, directory, nanlens] = process.argv.slice(2);
const { chromium } = createRequire(playwright + '/')('playwright-core');
const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
const report = await browser.newPage({ viewport: { width: 960, height: 1180 } });
await report.goto(`file://${directory}/report.html`);
await report.screenshot({ path: 'report.png' });
const shoot = async (page, name) => {
  await page.waitForFunction(() => window.nanlens?.state?.()?.verdict?.sentence);
  await page.waitForTimeout(3000); // what moves has come to rest
  await page.screenshot({ path: `${name}.png` });
};
const shared = await browser.newPage({ viewport: { width: 1100, height: 700 } });
await shared.goto(`file://${directory}/shared.html`);
await shoot(shared, 'shared');
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme });
  await page.goto(`file://${nanlens}`);
  await page.evaluate(() => window.nanlens.ready);
  await (await page.$('#pick-files')).setInputFiles(readdirSync('walkthrough').map((name) => `${directory}/walkthrough/${name}`));
  await shoot(page, `page-${colorScheme}`);
}
await browser.close();
END
node shoot.mjs "$playwright" "$work" "$page"
for picture in report shared page-light page-dark; do
  save "$picture.png" "$picture"
done
