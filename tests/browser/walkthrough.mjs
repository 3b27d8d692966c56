// The page on the walkthrough: what only a browser can show. What every pane does is tested without one (tests/app).
import { Viewer, assert, check, checkInside, finish, launch } from './harness.mjs';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const work = mkdtempSync(join(tmpdir(), 'nanlens-browser-'));
const { MNIST, BIG, CJK, PAGE, SHOTS } = process.env;
const shot = (v, name) => v.page.screenshot({ path: join(SHOTS, name) });
const asksNothing = (v) => assert.deepEqual(v.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);

await check('the start screen says what to do and asks the network for nothing', async () => {
  const v = await Viewer.open({ scale: 1 });
  const rects = await v.rects();
  for (const id of ['drop', 'start:folder', 'start:files', 'licences', 'help', 'theme']) assert.ok(rects[id], id);
  await shot(v, 'page-start.png');
  asksNothing(v);
  await v.close();
});

await check('from the drop to the source line, with nothing but the drop', async () => {
  const v = await Viewer.open({ scale: 1 });
  await v.drop(MNIST);
  const s = await v.state();
  assert.equal(s.runs[0].num_traces, 600);
  assert.equal(s.alerts.total, 499);
  assert.equal(s.focus.trace, 88);
  assert.equal(s.focus.op_name, 'Log');
  assert.match(s.verdict.sentence, /^Log at model\.cpp:\d+ turned \d+ zeros? of probs into −∞/);
  assert.match(readFileSync(s.source_code.path, 'utf8').split('\n')[s.source_code.line - 1], /"Log"/);
  assert.equal(s.diagnostics.length, 0);
  asksNothing(v);
  await v.page.mouse.move(5, 700);
  await v.idle();
  await shot(v, 'page-light.png');
  await v.click('theme');
  assert.equal((await v.state()).theme, 'dark');
  await v.page.mouse.move(5, 700);
  await v.idle();
  await shot(v, 'page-dark.png');
  await v.close();
});

await check('the browser\'s mouse, wheel and keys are the viewer\'s, and Tab leaves the page at its ends', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.click('alert:53');
  assert.equal((await v.state()).focus.trace, 148);
  await v.key('.');
  assert.equal((await v.state()).focus.trace, 149);
  const whole = (await v.state()).timeline;
  const band = await v.point('timeline:band');
  await v.page.mouse.move(band.x, band.y);
  await v.page.keyboard.down('Control');
  await v.page.mouse.wheel(0, -300);
  await v.page.keyboard.up('Control');
  await v.idle();
  const zoomed = (await v.state()).timeline;
  assert.ok(zoomed.end - zoomed.begin < 0.8 * (whole.end - whole.begin), 'Ctrl and the wheel zoom');
  const splitter = await v.point('splitter:left');
  const before = (await v.rect('pane:alerts')).w;
  await v.drag(splitter, { x: splitter.x + 60, y: splitter.y });
  assert.ok(Math.abs((await v.rect('pane:alerts')).w - before - 60) < 6);
  await v.click('splitter:left', { count: 2 });
  assert.ok(Math.abs((await v.rect('pane:alerts')).w - before) < 2, 'two clicks are a double click');
  await v.click('trace:148', { button: 'right', fx: 0.3 });
  assert.equal((await v.state()).menu, true, 'the browser\'s own menu stays away');
  await v.key('Escape');
  await v.key('/');
  await v.type('type:Log bad');
  assert.equal((await v.state()).graph_executions.shown, 9);
  await v.key('Escape', 'Escape', 'Control+p');
  assert.equal((await v.state()).popup, 'palette');
  await v.type(':207');
  await v.key('Enter');
  assert.equal((await v.state()).focus.trace, 207);
  await v.key('?');
  assert.equal((await v.state()).popup, 'help');
  await v.key('F1', 'Shift+3');
  assert.equal((await v.state()).maximized, 'graph_executions');
  await v.key('Escape', '6');
  const focused = () => v.page.evaluate(() => document.activeElement.id);
  assert.equal(await focused(), 'keyboard');
  await v.key('Tab');
  assert.notEqual(await focused(), 'keyboard', 'behind the last pane Tab leaves');
  await v.close();
});

await check('text is copied to the browser\'s clipboard, and pasted from it', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.click('stack:copy');
  await v.until(async () => /model\.cpp:\d+ /.test(await navigator.clipboard.readText()));
  await v.page.evaluate(() => navigator.clipboard.writeText('type:Neg'));
  await v.key('/', 'Control+v');
  assert.equal((await v.state()).graph_executions.filter, 'type:Neg');
  await v.close();
});

await check('a list is exported as a download', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.command('filter', { query: 'type:Log bad' });
  const download = v.page.waitForEvent('download');
  assert.deepEqual(await v.command('export', { what: 'rows' }), { ok: true });
  const file = await download;
  assert.match(file.suggestedFilename(), /^nanlens-rows-[0-9a-f]{8}\.jsonl$/);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.length, 9);
  assert.deepEqual([lines[0].row, lines[0].op_type, lines[0].ninf, lines[0].class], [88, 'Log', 5, 'made']);
  const refused = await v.command('export', { what: 'everything' });
  assert.ok(!refused.ok && refused.message.length > 5);
  await v.close();
});

await check('the sample is in the page; language and settings are there again after a reload', async () => {
  const v = await Viewer.open();
  await v.click('start:sample');
  await v.loaded();
  const s = await v.state();
  assert.deepEqual([s.runs[0].num_traces, s.runs[0].num_alerts, s.focus.trace], [600, 499, 88]);
  await v.click('settings');
  await v.click('settings:de');
  await v.click('settings:dark');
  assert.equal(await v.page.evaluate(() => document.documentElement.lang), 'de');
  await v.until(() => /"language":"de"/.test(localStorage.getItem('nanlens')));
  await v.page.reload();
  await v.page.evaluate(() => nanlens.ready);
  assert.equal((await v.state()).language, 'de');
  assert.equal((await v.state()).theme, 'dark');
  asksNothing(v);
  await v.close();
});

await check('fingers: tap, long press, two to pan and zoom; text of an input method', async () => {
  const w = await Viewer.open();
  await w.drop(MNIST);
  const session = await w.context.newCDPSession(w.page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
  const send = (type, ...points) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const touch = async (type, ...points) => {
    await send(type, ...points);
    await w.idle();
  };
  const at = await w.point('trace:89', 0.6);
  // At once: on a slow machine a finger that waits for a frame is held down long.
  await Promise.all([send('touchStart', [at.x, at.y]), send('touchEnd')]);
  await w.idle();
  await w.until(() => nanlens.state().focus.trace === 89);
  await w.until(() => nanlens.rects()['trace:89'].h >= 30); // rows grow for fingers
  const held = await w.point('trace:89', 0.6);
  await touch('touchStart', [held.x, held.y]);
  await w.until(() => nanlens.state().menu);
  await touch('touchEnd');
  await w.key('Escape');
  assert.equal((await w.state()).menu, false);
  assert.equal((await w.state()).focus.trace, 89, 'Escape closed a menu, not the selection');
  const first = (await w.state()).graph_executions.first;
  const pane = await w.point('trace:89', 0.5);
  await touch('touchStart', [pane.x - 40, pane.y + 60], [pane.x + 40, pane.y + 60]);
  for (const up of [40, 20, 0, -20]) await touch('touchMove', [pane.x - 40, pane.y + up], [pane.x + 40, pane.y + up]);
  await touch('touchEnd');
  assert.ok((await w.state()).graph_executions.first > first, 'two fingers scroll');
  assert.equal((await w.state()).focus.trace, 89, 'and select nothing');
  const before = (await w.state()).timeline;
  const band = await w.point('timeline:band');
  await touch('touchStart', [band.x - 20, band.y], [band.x + 20, band.y]);
  for (const apart of [40, 60, 80]) await touch('touchMove', [band.x - apart, band.y], [band.x + apart, band.y]);
  await touch('touchEnd');
  const after = (await w.state()).timeline;
  assert.ok(after.end - after.begin < 0.7 * (before.end - before.begin), 'fingers moved apart zoom in');

  await w.key('/');
  await w.until(() => nanlens.state().typing);
  await session.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
  await session.send('Input.insertText', { text: '日本' });
  await w.idle();
  assert.equal((await w.state()).graph_executions.filter, '日本');
  await w.close();
});

/** How many colours a screenshot has. */
const colours = async (v) => v.page.evaluate(async (bytes) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
}, [...await v.page.screenshot()]);

await check('a lost graphics context: everything is drawn again', async () => {
  const w = await Viewer.open();
  await w.drop(MNIST);
  const whole = await colours(w);
  await w.page.evaluate(() => {
    window.graphics = document.getElementById('canvas').getContext('webgl2');
    window.lose = graphics.getExtension('WEBGL_lose_context');
    lose.loseContext();
  });
  await w.until(() => graphics.isContextLost());
  await w.page.evaluate(() => lose.restoreContext());
  await w.until(() => nanlens.state().toasts.some((t) => /context/.test(t)));
  await w.idle();
  assert.ok(await colours(w) > whole / 2, 'the picture is whole again');
  await w.close();
});

await check('nothing is drawn while nothing happens, though the folder is looked at', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.page.mouse.move(640, 700);
  await v.looks(2);
  await v.idle();
  const before = (await v.state()).frame;
  await v.looks(4);
  assert.equal((await v.state()).frame, before);
  await v.close();
});

await check('the view is in the hash: the browser goes back and forward, and a reload brings it again', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  const shows = (trace) => v.until((t) => nanlens.state().focus.trace === t && location.hash.includes('&t=' + t + '&'), trace);
  await shows(88);
  await v.command('focus_trace', { index: 148 });
  await shows(148);
  await v.command('focus_trace', { index: 207 });
  await shows(207);
  await v.page.goBack();
  await shows(148);
  await v.page.goForward();
  await shows(207);
  await v.command('filter', { query: 'bad' });
  await v.command('focus_frame', { index: 1 });
  await v.command('set_splitter', { id: 'left', at: 0.3 });
  await v.command('theme', { name: 'dark' });
  await v.until(() => /t=207.*q=bad.*&fr=1&sp=30%2C.*th=dark/.test(location.hash));
  const alerts = (await v.rect('pane:alerts')).w;
  await v.page.evaluate(() => localStorage.clear());
  await v.page.reload();
  await v.page.evaluate(() => nanlens.ready);
  await v.drop(MNIST);
  const s = await v.state();
  assert.deepEqual([s.focus.trace, s.graph_executions.filter, s.focus.frame, s.theme], [207, 'bad', 1, 'dark']);
  assert.ok(Math.abs((await v.rect('pane:alerts')).w - alerts) < 2);
  await v.close();
});

await check('a screen reader gets tables of what is on the canvas, and is told the selection', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  const told = () => v.page.evaluate(() => document.getElementById('live').textContent);
  assert.match(await told(), /^Log at model\.cpp/);
  await v.key('Control+Alt+a');
  for (const index of [90, 88, 89]) await v.command('focus_trace', { index });
  await v.until(() => /mul:0.*focused/s.test(document.getElementById('mirror').textContent));
  assert.match(await v.page.evaluate(() => document.getElementById('mirror').textContent), /499 in all/);
  assert.match(await told(), /^Row 89/);
  await v.key('Control+Alt+a');
  assert.equal(await v.page.evaluate(() => document.getElementById('mirror').textContent), '');
  await v.close();
});

await check('a folder that grows is followed', async () => {
  const growing = join(work, 'growing');
  mkdirSync(growing);
  const tail = new Map();
  for (const name of readdirSync(MNIST)) {
    const bytes = readFileSync(join(MNIST, name));
    const events = /execution(_traces)?$/.test(name);
    writeFileSync(join(growing, name), events ? bytes.subarray(0, bytes.length >> 1) : bytes);
    if (events) tail.set(name, bytes.subarray(bytes.length >> 1));
  }
  const w = await Viewer.open();
  await w.drop(growing);
  const before = await w.state();
  assert.ok(before.runs[0].num_traces < 600);
  for (const [name, bytes] of tail) appendFileSync(join(growing, name), bytes);
  await w.until(() => nanlens.state().runs[0].num_traces === 600);
  await w.idle();
  const after = await w.state();
  assert.deepEqual(after.focus, before.focus);
  assert.equal(after.alerts.total, 499);
  await w.close();
});

await check('3.5 million rows: loaded in slices, scrolled, filtered, below 256 MB', async () => {
  const w = await Viewer.open({ scale: 1 });
  await w.page.evaluate(() => {
    window.longest = 0;
    const draw = Module._nl_frame;
    window.slowest = 0;
    Module._nl_frame = (now) => {
      const begin = performance.now();
      const due = draw(now);
      window.slowest = Math.max(window.slowest, performance.now() - begin);
      return due;
    };
    let last = performance.now();
    const beat = () => {
      const now = performance.now();
      window.longest = Math.max(window.longest, now - last);
      last = now;
      setTimeout(beat, 4);
    };
    beat();
  });
  const start = Date.now();
  await w.drop(BIG);
  const seconds = (Date.now() - start) / 1000;
  let s = await w.state();
  const rows = s.runs[0].num_traces;
  console.log(`      ${rows} rows in ${seconds.toFixed(1)} s, ${(s.memory_bytes / 1e6).toFixed(0)} MB of heaps, longest pause of the page ${await w.page.evaluate(() => Math.round(window.longest))} ms, of a frame ${await w.page.evaluate(() => Math.round(window.slowest))} ms`);
  assert.ok(rows >= 3.5e6);
  assert.ok(s.memory_bytes < 256e6, String(s.memory_bytes));
  await w.command('scroll_to', { pane: 'graph_executions', index: rows - 100 });
  s = await w.state();
  assert.equal(s.graph_executions.first, rows - 100);
  assert.equal(s.graph_executions.visible[0].index, rows - 100);
  const bar = await w.rect('rows:scroll');
  await w.drag({ x: bar.x + 5, y: bar.y + bar.h - 6 }, { x: bar.x + 5, y: bar.y + bar.h / 2 });
  s = await w.state();
  assert.ok(Math.abs(s.graph_executions.first / rows - 0.5) < 0.1);
  await w.key('/');
  await w.type('bad type:MatMul');
  s = await w.state();
  assert.ok(s.graph_executions.shown > 0 && s.graph_executions.shown < rows / 100, String(s.graph_executions.shown));
  await shot(w, 'page-big.png');
  await w.command('close_logdir');
  assert.ok((await w.state()).memory_bytes < 90e6, 'closing frees it');
  await w.close();
});

await check('crisp and whole at 640x480, 1024x640, 4K and a pixel ratio of 2', async () => {
  for (const [width, height, scale] of [[640, 480, 1], [1024, 640, 1], [3840, 2160, 1], [1280, 720, 2]]) {
    const w = await Viewer.open({ width, height, scale, dark: scale === 2 });
    await w.drop(MNIST);
    assert.equal((await w.state()).focus.trace, 88);
    assert.deepEqual(await w.page.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').height]), [width * scale, height * scale]);
    await checkInside(w, width, height, `at ${width}x${height}`);
    await shot(w, `page-${width}x${height}@${scale}.png`);
    await w.close();
  }
});

await check('without WebGL2 the page says so in HTML', async () => {
  const other = await launch('--disable-3d-apis');
  const page = await other.newPage();
  await page.goto(pathToFileURL(PAGE).href);
  await page.waitForFunction(() => /WebGL2/.test(document.getElementById('fault').textContent), null, { timeout: 15000 });
  assert.ok(await page.isVisible('#fault'));
  await other.close();
});

/** Keeps what the page draws of characters that its own fonts lack, by code; with `box`, the box for missing ones instead. */
const keepGlyphs = (box) => {
  window.glyphs = {};
  let page;
  Object.defineProperty(window, 'nlPage', {
    get: () => page,
    set(value) {
      page = value;
      const draw = page.glyph;
      page.glyph = (code, size, at, capacity) => {
        const width = draw(box ? 0xfffe : code, size, at, capacity);
        glyphs[code] ||= Array.from(HEAPU8.subarray(at, at + width * Math.ceil(size * 1.4))).join();
        return width;
      };
    },
  });
};

await check('Chinese and Japanese text in names and source is readable: each character has a shape of its own', async () => {
  const drawn = [];
  for (const box of [false, true]) {
    const w = await Viewer.open({ before: `(${keepGlyphs})(${box})` });
    await w.drop(CJK);
    await w.command('focus_source', { path: '/project/train.cpp', line: 2 });
    const s = await w.state();
    const name = s.graph_executions.visible[0].tensor;
    assert.match(name, /损失层\/对数_/);
    const cell = await w.rect(`trace:${s.graph_executions.visible[0].index}:name`);
    const picture = await w.page.screenshot({ clip: { x: cell.x, y: cell.y, width: cell.w, height: cell.h } });
    drawn.push({ glyphs: await w.page.evaluate(() => glyphs), picture: picture.toString('base64') });
    if (!box) await shot(w, 'page-cjk.png');
    await w.close();
  }
  const [real, boxes] = drawn;
  const tofu = new Set(Object.values(boxes.glyphs));
  const characters = [...'损失层对数概率为零时取損失を計算する'];
  for (const c of characters) {
    const shape = real.glyphs[c.codePointAt(0)];
    assert.ok(shape && /[1-9]/.test(shape), `${c} was drawn`);
    assert.ok(!tofu.has(shape), `${c} is not the box for missing characters: is a font with Chinese installed?`);
  }
  assert.equal(new Set(characters.map((c) => real.glyphs[c.codePointAt(0)])).size, new Set(characters).size);
  assert.notEqual(real.picture, boxes.picture, 'and that is what is on the screen');
});

rmSync(work, { recursive: true });
await finish();
