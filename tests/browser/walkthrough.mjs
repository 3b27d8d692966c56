// The walkthrough in the browser, on a logdir of nanlens and on one of TensorFlow, and every pane by mouse and keyboard.
import { Viewer, assert, check, finish, launch } from './harness.mjs';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const work = mkdtempSync(join(tmpdir(), 'nanlens-browser-'));
const { MNIST, GOLDEN, ARCHIVE, BIG, PAGE } = process.env;
const core = join(GOLDEN, 'core.FULL_HEALTH');
const badge = (row, kind) => row.badges.find((b) => b.kind === kind)?.value;
const row = (s, index) => s.graph_executions.visible.find((r) => r.index === index);

await check('the start screen says what to do and asks the network for nothing', async () => {
  const v = await Viewer.open();
  const rects = await v.rects();
  for (const id of ['drop', 'start:folder', 'start:files', 'licences', 'help', 'theme']) assert.ok(rects[id], id);
  await v.click('licences');
  assert.equal((await v.state()).popup, 'licences');
  await v.key('Escape');
  assert.equal((await v.state()).popup, 'none');
  assert.deepEqual(v.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  await v.close();
});

await check('from the drop to the source line, with nothing but the drop', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  const s = await v.state();
  assert.equal(s.runs.length, 1);
  assert.equal(s.runs[0].num_traces, 600);
  assert.equal(s.alerts.total, 499);
  assert.deepEqual(s.alerts.by_type, { InfNanAlert: 499 });
  assert.equal(s.focus.trace, 88);
  assert.equal(s.focus.op_name, 'Log');
  assert.ok(row(s, 88).roles.includes('focused'));
  assert.equal(badge(row(s, 88), 'ninf'), 5);
  assert.ok(row(s, 85).roles.includes('input:0'));
  assert.equal(row(s, 85).tensor, 'probs:0');
  assert.equal(badge(row(s, 85), 'zero'), 5);
  assert.ok(row(s, 89).roles.includes('consumer'));
  assert.equal(s.graph_structure.op_name, 'Log');
  assert.equal(s.graph_structure.inputs[0].op_name, 'probs');
  assert.ok(s.source_code.path.endsWith('model.cpp'));
  const line = readFileSync(s.source_code.path, 'utf8').split('\n')[s.source_code.line - 1];
  assert.match(line, /"Log"/);
  assert.ok(s.source_code.first_visible <= s.source_code.line);
  assert.ok((await v.rects())[`source:line:${s.source_code.line}`]);
  assert.equal(s.diagnostics.length, 0);
  assert.deepEqual(v.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-light.png') });
  await v.click('theme');
  assert.equal((await v.state()).theme, 'dark');
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-dark.png') });
  await v.close();
});

await check('the same on a logdir of the real TensorFlow', async () => {
  const v = await Viewer.open();
  await v.drop(core);
  const s = await v.state();
  assert.equal(s.runs[0].num_executions, 30);
  assert.equal(s.alerts.total, 59);
  assert.equal(s.focus.trace, 0);
  assert.equal(s.source_code.line, 15);
  assert.ok(s.stack_trace.frames.at(-1).path.length > 0);
  assert.equal(badge(s.graph_structure.inputs[0], 'zero'), 4);
  await v.close();
});

const v = await Viewer.open();
await v.drop(MNIST);

await check('alerts: a click selects event and op; next, previous and the footer', async () => {
  await v.click('alert:53');
  let s = await v.state();
  assert.equal(s.focus.trace, 148);
  assert.equal(s.graph_structure.op_name, 'Log');
  assert.ok(row(s, 148), 'its row is in view');
  await v.click('alerts:next');
  assert.equal((await v.state()).focus.trace, 149);
  await v.key('.');
  assert.equal((await v.state()).focus.trace, 150);
  await v.key('.');
  assert.equal((await v.state()).focus.trace, null, 'the next one is an output of the call');
  assert.equal((await v.state()).focus.execution, 35);
  await v.key(',', ',', ',');
  assert.equal((await v.state()).focus.trace, 148);
  await v.click('alert:InfNanAlert');
  assert.equal((await v.state()).focus.trace, 88, 'the type leads to its first alert');
  await v.click('alerts:fold');
  assert.deepEqual((await v.state()).alerts.visible, []);
  await v.click('alerts:fold');
  await v.click('alerts:group:Log');
  s = await v.state();
  assert.ok(s.alerts.visible.every((a) => a.op_type !== 'Log'));
  await v.click('alerts:group:Log');
  for (const by of ['call', 'graph', 'line', 'class', 'op']) {
    await v.key('g');
    assert.equal((await v.state()).alerts.by, by);
  }
  await v.key('n');
  assert.equal((await v.state()).focus.trace, 88);
});

await check('causes: the verdict says why; chain, keys, panel, classes, filter words', async () => {
  let s = await v.state();
  assert.equal(s.verdict.id, 'rc.log_softmax');
  assert.match(s.verdict.sentence, /^Log at model\.cpp:\d+ turned \d+ zeros? of probs into −∞/);
  assert.deepEqual([s.verdict.reach, s.verdict.total, s.causes.length], [499, 499, 1]);
  assert.ok(s.verdict.path.endsWith('model.cpp') && s.verdict.line > 0);
  await v.command('focus_trace', { index: 106 });
  s = await v.state();
  assert.deepEqual(s.chain.slice(0, 2).map((c) => [c.tensor, c.class]), [['Softmax:0', 'clean'], ['Log:0', 'made']]);
  assert.equal(s.chain.at(-1).trace, 106);
  assert.equal(row(s, 106).class, 'passed');
  await v.key('u');
  assert.equal((await v.state()).focus.trace, s.chain.at(-2).trace, 'one step up');
  await v.key('j');
  assert.equal((await v.state()).focus.trace, 106, 'and down again');
  await v.key('y');
  assert.equal((await v.state()).focus.trace, 88, 'to the cause');
  await v.click('chain:0');
  assert.equal((await v.state()).focus.trace, 84, 'the zeros come from the softmax');
  await v.click('verdict:fix');
  assert.ok((await v.rects())['verdict:remedy']);
  assert.match((await v.state()).verdict.remedy, /log_softmax/);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-remedy.png') });
  await v.click('verdict:fix');
  assert.ok(!(await v.rects())['verdict:remedy']);
  await v.click('verdict:why');
  s = await v.state();
  assert.equal(s.popup, 'causes');
  await v.click('removed:0');
  s = await v.state();
  assert.equal(s.popup, 'none');
  assert.equal(s.execution.op_type, 'ArgMax');
  await v.click('verdict');
  assert.equal((await v.state()).focus.trace, 88);
  for (const [query, count] of [['made', 1], ['passed', 352], ['removed', 0], ['source or unknown or expected', 0]]) {
    await v.command('filter', { query });
    await v.idle();
    assert.equal((await v.state()).graph_executions.shown, count, query);
  }
  await v.command('clear_filter');
});

await check('timeline: boxes, overview, wheel, zoom, fit, time mode', async () => {
  let s = await v.state();
  const call = s.focus.execution;
  assert.ok(s.timeline.boxes.find((b) => b.index === call).bad);
  assert.equal(s.timeline.boxes.find((b) => b.index === call).kind, 'function');
  const eager = s.timeline.boxes.find((b) => b.kind === 'eager');
  await v.click(`timeline:box:${eager.index}`);
  s = await v.state();
  assert.equal(s.execution.index, eager.index);
  assert.equal(s.execution.op_type, eager.op_type);
  assert.equal(eager.label, eager.op_type[0]);
  assert.ok(s.stack_trace.title.includes(`#${eager.index}`));
  await v.click('timeline:fit');
  s = await v.state();
  assert.equal(s.timeline.begin, 0);
  assert.equal(s.timeline.end, s.timeline.total);
  assert.equal(s.timeline.boxes.length, s.timeline.total);
  const middle = await v.point('timeline:band');
  await v.page.mouse.move(middle.x, middle.y);
  await v.page.keyboard.down('Control');
  await v.page.mouse.wheel(0, -300);
  await v.frames(3);
  await v.page.keyboard.up('Control');
  await v.idle();
  const zoomed = (await v.state()).timeline;
  assert.ok(zoomed.end - zoomed.begin < s.timeline.total * 0.8, JSON.stringify(zoomed.end));
  await v.page.mouse.wheel(0, 200);
  await v.frames(3);
  await v.idle();
  assert.ok((await v.state()).timeline.begin > zoomed.begin);
  const overview = await v.rect('timeline:overview');
  await v.drag({ x: overview.x + overview.w * 0.95, y: overview.y + 8 }, { x: overview.x + overview.w * 0.96, y: overview.y + 8 }, 2);
  assert.ok((await v.state()).timeline.end > 140);
  await v.key('t');
  s = await v.state();
  assert.equal(s.timeline.mode, 'time');
  assert.ok(s.timeline.boxes.length > 0);
  assert.ok(s.timeline.gaps.length > 0, 'the program made its data before its first execution');
  assert.ok(s.timeline.end < s.timeline.gaps.reduce((sum, g) => sum + g.seconds, 0) + 1);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-time.png') });
  await v.key('t');
  await v.command('timeline_range', { begin: 0, end: 50 });
  await v.key('d');
  assert.ok((await v.state()).timeline.begin > 0);
  await v.key('a', 'w');
  s = await v.state();
  assert.ok(s.timeline.end - s.timeline.begin < 50);
});

await check('execution card: outputs lead to rows, inputs to their makers, links to graph and rows', async () => {
  await v.command('focus_execution', { index: 19 });
  let s = await v.state();
  assert.equal(s.execution.index, 19);
  assert.equal(s.execution.num_rows, 6);
  const output = s.execution.outputs.findIndex((o) => o.trace === 88);
  assert.ok(output >= 0);
  await v.click(`exec:output:${output}`);
  assert.equal((await v.state()).focus.trace, 88);
  await v.command('focus_execution', { index: 19 });
  await v.click('exec:graph');
  s = await v.state();
  assert.equal(s.graph_structure.graph_name, 'loss');
  assert.equal(s.graph_structure.op_name, null);
  await v.click('graph:first_row');
  assert.equal((await v.state()).focus.trace, 85);
});

await check('graph: cards, hops, back and forward, the caller behind a placeholder', async () => {
  await v.command('focus_trace', { index: 88 });
  await v.click('op:input:0');
  let s = await v.state();
  assert.equal(s.focus.op_name, 'probs');
  assert.equal(s.focus.trace, 85);
  assert.equal(s.graph_structure.boundary.known, true);
  const before = s.focus.trace;
  await v.key('k');
  s = await v.state();
  assert.notEqual(s.focus.trace, before);
  assert.equal(s.focus.op_name, 'Softmax');
  await v.key('[');
  assert.equal((await v.state()).focus.op_name, 'probs');
  await v.key('[');
  assert.equal((await v.state()).focus.op_name, 'Log');
  await v.key(']');
  assert.equal((await v.state()).focus.op_name, 'probs');
  await v.key('[');
  await v.click('op:consumer:0:0');
  assert.equal((await v.state()).focus.op_name, 'mul');
  await v.click('graph:hops');
  assert.equal((await v.state()).graph_structure.farther_inputs, 1);
  await v.command('graph_hops', { n: 1 });
  await v.click('crumb:0');
  assert.equal((await v.state()).graph_structure.op_name, null);
});

await check('rows: click, filter while typing, bad filter, only bad, columns, context menu', async () => {
  await v.command('focus_trace', { index: 88 });
  await v.click('trace:87:name');
  assert.equal((await v.state()).focus.trace, 87);
  await v.key('/');
  await v.type('type:Log bad');
  let s = await v.state();
  assert.equal(s.graph_executions.filter, 'type:Log bad');
  assert.equal(s.graph_executions.shown, 9);
  assert.ok(s.graph_executions.visible.every((r) => r.op_type === 'Log'));
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-filter-parts.png') });
  await v.click('filter:part:1');
  s = await v.state();
  assert.equal(s.graph_executions.filter, 'type:Log');
  await v.command('filter', { query: 'type:Log bad' });
  await v.click('filter');
  await v.key('End');
  await v.type(' (');
  s = await v.state();
  assert.ok(s.graph_executions.filter_error);
  assert.equal(s.graph_executions.shown, 9);
  await v.key('Escape', 'Escape');
  await v.command('clear_filter');
  await v.key('b');
  s = await v.state();
  assert.equal(s.graph_executions.shown, 353);
  await v.key('b');
  await v.command('columns', { show: ['dtype', 'call'], hide: ['op'] });
  assert.ok(Object.keys(await v.rects()).some((id) => /^trace:\d+:call$/.test(id)));
  await v.command('columns', { hide: ['dtype', 'call'], show: ['op'] });
  await v.command('focus_trace', { index: 88 });
  await v.key('p');
  await v.command('pin', { trace: 85 });
  s = await v.state();
  assert.deepEqual(s.graph_executions.pinned, [88, 85]);
  await v.click('pin:trace:85');
  assert.equal((await v.state()).focus.trace, 85);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-pins.png') });
  await v.click('pins:clear');
  assert.deepEqual((await v.state()).graph_executions.pinned, []);
  await v.click('trace:87', { button: 'right', fx: 0.3 });
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-menu.png') });
  await v.key('Escape');
});

await check('rows: sorted by a column, by click, key and link; where a fast drag has come to', async () => {
  await v.command('clear_filter');
  await v.click('sort:health');
  let s = await v.state();
  assert.deepEqual(s.graph_executions.sort, { column: 'health', descending: true });
  const bad = (r) => ['nan', 'ninf', 'pinf'].reduce((n, kind) => n + (badge(r, kind) ?? 0), 0);
  const counts = s.graph_executions.visible.map(bad);
  assert.ok(counts[0] >= 10000, counts[0]);
  assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
  assert.match(await v.page.evaluate(() => location.hash), /so=health%2Cd/);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-sorted.png') });
  await v.click('sort:health');
  assert.equal((await v.state()).graph_executions.sort.descending, false);
  await v.click('sort:health');
  assert.equal((await v.state()).graph_executions.sort, null);
  assert.equal((await v.command('sort', { column: 'colour' })).ok, false);
  await v.command('filter', { query: 'type:Log bad' });
  const download = v.page.waitForEvent('download');
  assert.equal((await v.command('export', { what: 'rows' })).ok, true);
  const file = await download;
  assert.match(file.suggestedFilename(), /^nanlens-rows-[0-9a-f]{8}\.jsonl$/);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.length, 9);
  assert.deepEqual([lines[0].row, lines[0].op_type, lines[0].ninf, lines[0].class], [88, 'Log', 5, 'made']);
  assert.ok((await v.state()).toasts.some((t) => /Wrote 9 lines/.test(t)));
  assert.equal((await v.command('export', { what: 'everything' })).ok, false);
  await v.command('clear_filter');
  const bar = await v.rect('rows:scroll');
  await v.page.mouse.move(bar.x + bar.w / 2, bar.y + 4);
  await v.page.mouse.down();
  await v.page.mouse.move(bar.x + bar.w / 2, bar.y + bar.h / 2, { steps: 4 });
  await v.idle();
  assert.ok((await v.rects())['rows:bubble']);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-bubble.png') });
  await v.page.mouse.up();
  await v.idle();
  assert.equal((await v.rects())['rows:bubble'], undefined);
  await v.command('focus_trace', { index: 88 });
});

await check('source: marks, find, tabs; stack: frames, sticking, folding, copying', async () => {
  await v.command('focus_trace', { index: 88 });
  let s = await v.state();
  const line = s.source_code.line;
  await v.click(`source:mark:${line}`);
  assert.equal((await v.state()).popup, 'ops_of_line');
  await v.click('op:line:0');
  s = await v.state();
  assert.equal(s.popup, 'none');
  assert.equal(s.focus.op_name, 'Log');
  await v.key('5', 'Control+f');
  await v.type('Softmax');
  await v.key('Enter');
  s = await v.state();
  assert.match(readFileSync(s.source_code.path, 'utf8').split('\n')[s.source_code.line - 1], /Softmax/);
  await v.key('Escape');
  await v.click('frame:0');
  s = await v.state();
  assert.equal(s.focus.frame, 0);
  assert.ok(s.source_code.path.endsWith('mnist.cpp'));
  assert.equal(s.stack_trace.sticky, false, 'another frame of that file lies further in');
  await v.click('frame:1');
  assert.equal((await v.state()).stack_trace.sticky, true);
  await v.command('focus_trace', { index: 95 });
  s = await v.state();
  assert.ok(s.source_code.path.endsWith('mnist.cpp'), 'sticks to the file');
  await v.click('frame:0');
  await v.command('focus_trace', { index: 88 });
  assert.ok((await v.state()).source_code.path.endsWith('model.cpp'));
  await v.click('stack:copy');
  assert.match(await v.page.evaluate(() => nlPage.copied), /model\.cpp:\d+ /);
  await v.key('6');
  assert.equal((await v.state()).active_pane, 'stack_trace');
});

await check('wide windows: the graph flows to the right, the caller\'s file stands beside the shown one', async () => {
  const w = await Viewer.open({ width: 2560, height: 1440 });
  await w.drop(MNIST);
  const rects = await w.rects();
  const [input, self, consumer] = [rects['op:input:0'], rects['op:self'], rects['op:consumer:0:0']];
  assert.ok(input.x + input.w < self.x && self.x + self.w < consumer.x, JSON.stringify([input, self, consumer]));
  assert.ok(rects['source:beside']);
  let s = await w.state();
  assert.match(s.source_code.path, /model\.cpp$/);
  assert.match(s.source_code.beside, /mnist\.cpp$/);
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-wide.png') });
  await w.click('source:beside', { fx: 0.05 });
  s = await w.state();
  assert.match(s.source_code.path, /mnist\.cpp$/);
  await w.click('op:consumer:0:0', { fx: 0.3, fy: 0.3 });
  assert.equal((await w.state()).focus.op_name, 'mul');
  await w.close();
});

await check('alerts folded to a rail, settings, the sample', async () => {
  const w = await Viewer.open();
  assert.equal((await w.state()).runs.length, 0);
  await w.click('start:sample');
  await w.loaded();
  let s = await w.state();
  assert.equal(s.runs[0].num_traces, 600);
  assert.equal(s.runs[0].num_alerts, 499);
  assert.equal(s.focus.trace, 88);
  assert.match(s.source_code.path, /model\.cpp$/);
  const splitter = await w.rect('splitter:left');
  const grip = { x: splitter.x + splitter.w / 2, y: splitter.y + 100 };
  await w.drag(grip, { x: 30, y: grip.y });
  assert.equal((await w.rect('pane:alerts')).w, 44);
  await w.click('alerts:next');
  assert.equal((await w.state()).focus.trace, 89);
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-rail.png') });
  await w.click('alerts:widen');
  assert.ok((await w.rect('pane:alerts')).w > 150);
  await w.click('settings');
  assert.equal((await w.state()).popup, 'settings');
  await w.click('settings:dark');
  await w.click('settings:compact');
  await w.click('settings:larger');
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-settings.png') });
  assert.equal((await w.state()).theme, 'dark');
  await w.key('Escape');
  const row = await w.rect('trace:89');
  assert.ok(row.h > 18 && row.h < 21, row.h);
  assert.deepEqual(w.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  await w.close();
});

await check('languages: everything follows at once and stays, the state does not change, nothing is cut at 1280x720', async () => {
  const v = await Viewer.open();
  // Texts of the pseudo-language are in brackets; names of files and ops may be cut.
  const cut = async (where) => assert.deepEqual((await v.state()).cut_texts.filter((t) => t.startsWith('[')), [], where);
  const told = async () => {
    const { language, cut_texts, frame, memory_bytes, toasts, ...rest } = await v.state();
    return rest;
  };
  assert.equal((await v.state()).language, 'en');
  await v.command('language', { tag: 'xx' });
  await v.idle();
  await cut('start screen');
  await v.drop(MNIST);
  await v.command('language', { tag: 'en' });
  await v.idle();
  const english = await told();
  for (const tag of ['xx', 'de']) {
    assert.ok((await v.command('language', { tag })).ok);
    await v.idle();
    assert.deepEqual(await told(), english, tag);
    await cut('panes');
    await v.page.screenshot({ path: join(process.env.SHOTS, `page-${tag}.png`) });
    for (const popup of ['help', 'show_settings', 'palette', 'show_causes', 'columns', 'show_runs', 'show_diagnostics']) {
      await v.command(popup);
      await v.idle();
      assert.notEqual((await v.state()).popup, 'none', popup);
      await cut(popup);
      await v.page.screenshot({ path: join(process.env.SHOTS, `page-${tag}-${popup}.png`) });
      await v.key('Escape');
    }
  }
  await v.key('.', ',', ',');
  assert.ok((await v.state()).toasts.includes('Das war der erste Alarm.'));
  await v.key('Control+p');
  await v.type('next al');
  await v.key('Enter');
  assert.equal((await v.state()).focus.trace, 89);
  await v.page.waitForTimeout(300);
  await v.page.reload();
  await v.page.evaluate(() => nanlens.ready);
  assert.equal((await v.state()).language, 'de');
  await v.click('settings');
  await v.click('settings:en');
  assert.equal((await v.state()).language, 'en');
  assert.equal((await v.command('language', { tag: 'tlh' })).ok, false);
  await v.close();
});

await check('fingers: tap, long press, two to pan and zoom; text of an input method; a lost graphics context', async () => {
  const w = await Viewer.open();
  await w.drop(MNIST);
  const session = await w.context.newCDPSession(w.page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
  const touch = async (type, ...points) => {
    await session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    await w.frames(2);
  };
  const at = await w.point('trace:89', 0.6);
  await touch('touchStart', [at.x, at.y]);
  await touch('touchEnd');
  await new Promise((done) => setTimeout(done, 200));
  await w.idle();
  assert.equal((await w.state()).focus.trace, 89);
  const held = await w.point('trace:89', 0.6);
  await touch('touchStart', [held.x, held.y]);
  await new Promise((done) => setTimeout(done, 700));
  await touch('touchEnd');
  await w.idle();
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-long-press.png') });
  await w.key('Escape');
  assert.equal((await w.state()).focus.trace, 89, 'Escape closed a menu, not the selection');
  const first = (await w.state()).graph_executions.first;
  const pane = await w.point('trace:89', 0.5);
  await touch('touchStart', [pane.x - 40, pane.y + 60], [pane.x + 40, pane.y + 60]);
  for (const up of [40, 20, 0, -20]) await touch('touchMove', [pane.x - 40, pane.y + up], [pane.x + 40, pane.y + up]);
  await touch('touchEnd');
  await w.idle();
  assert.ok((await w.state()).graph_executions.first > first, 'two fingers scroll');
  assert.equal((await w.state()).focus.trace, 89, 'and select nothing');
  const before = (await w.state()).timeline;
  const band = await w.point('timeline:band');
  await touch('touchStart', [band.x - 20, band.y], [band.x + 20, band.y]);
  for (const apart of [40, 60, 80]) await touch('touchMove', [band.x - apart, band.y], [band.x + apart, band.y]);
  await touch('touchEnd');
  await w.idle();
  const after = (await w.state()).timeline;
  assert.ok(after.end - after.begin < 0.7 * (before.end - before.begin), 'fingers moved apart zoom in');

  await w.key('/');
  await session.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
  await w.frames(2);
  await session.send('Input.insertText', { text: '日本' });
  await w.frames(3);
  await w.idle();
  assert.equal((await w.state()).graph_executions.filter, '日本');
  await w.key('Escape', 'Escape');
  await w.command('clear_filter');

  const colours = async () => {
    const picture = await w.page.screenshot();
    return w.page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const data = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      return new Set(data).size;
    }, [...picture]);
  };
  const whole = await colours();
  await w.page.evaluate(() => {
    window.lose = document.getElementById('canvas').getContext('webgl2').getExtension('WEBGL_lose_context');
    window.lose.loseContext();
  });
  await new Promise((done) => setTimeout(done, 200));
  await w.page.evaluate(() => window.lose.restoreContext());
  await new Promise((done) => setTimeout(done, 400));
  await w.idle();
  assert.ok((await w.state()).toasts.some((t) => /context/.test(t)));
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-context-restored.png') });
  assert.ok(await colours() > whole / 2, 'the picture is whole again');
  await w.close();
});

await check('splitters, maximise, restore; what is remembered', async () => {
  const before = await v.rect('pane:alerts');
  const splitter = await v.point('splitter:left');
  await v.drag(splitter, { x: splitter.x + 60, y: splitter.y });
  const after = await v.rect('pane:alerts');
  assert.ok(Math.abs(after.w - before.w - 60) < 6, `${before.w} ${after.w}`);
  await v.click('splitter:left', { count: 2 });
  assert.ok(Math.abs((await v.rect('pane:alerts')).w - before.w) < 2);
  await v.click('pane:graph_executions:maximize');
  assert.equal((await v.state()).maximized, 'graph_executions');
  assert.ok((await v.rect('pane:graph_executions')).w > 1200);
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-rows.png') });
  await v.key('Escape');
  assert.equal((await v.state()).maximized, null);
});

await check('palette and help', async () => {
  await v.key('Control+p');
  assert.equal((await v.state()).popup, 'palette');
  await v.type('next al');
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-palette.png') });
  await v.command('focus_trace', { index: 88 });
  await v.key('Enter');
  let s = await v.state();
  assert.equal(s.popup, 'none');
  assert.equal(s.focus.trace, 89);
  await v.key('Control+p');
  await v.type(':207');
  await v.key('Enter');
  assert.equal((await v.state()).focus.trace, 207);
  await v.key('?');
  assert.equal((await v.state()).popup, 'help');
  await v.page.screenshot({ path: join(process.env.SHOTS, 'page-help.png') });
  await v.key('Escape');
});

await check('commands answer, and refuse what makes no sense', async () => {
  const before = (await v.state()).focus;
  for (const [name, args] of [['nonsense', {}], ['focus_trace', { index: 1e9 }], ['focus_trace', {}], ['focus_trace', { index: -1 }], ['focus_execution', { index: 'x' }],
    ['theme', { name: 'pink' }], ['set_splitter', { id: 'left', at: 7 }], ['graph_hops', { n: 99 }], ['maximize_pane', { pane: 'cellar' }], ['timeline_range', { begin: 5, end: 1 }]]) {
    const result = await v.command(name, args);
    assert.equal(result.ok, false, name);
    assert.ok(result.message.length > 5, name);
  }
  assert.deepEqual((await v.state()).focus, before);
});

await check('nothing is drawn while nothing happens', async () => {
  await v.page.mouse.move(640, 700);
  await v.page.waitForTimeout(800);
  const before = (await v.state()).frame;
  await v.page.waitForTimeout(2500);
  assert.equal((await v.state()).frame, before);
});

await check('the view is in the hash and comes back after a reload', async () => {
  await v.command('focus_trace', { index: 148 });
  await v.command('filter', { query: 'bad' });
  await v.idle();
  await v.command('focus_frame', { index: 1 });
  await v.command('set_splitter', { id: 'left', at: 0.3 });
  await v.command('theme', { name: 'dark' });
  await v.page.waitForTimeout(500);
  await v.idle();
  const alerts = (await v.rect('pane:alerts')).w;
  const hash = await v.page.evaluate(() => location.hash);
  assert.match(hash, /t=148/);
  assert.match(hash, /q=bad/);
  assert.match(hash, /&fr=1&sp=30%2C/);
  await v.page.evaluate(() => localStorage.clear());
  await v.page.reload();
  await v.page.evaluate(() => nanlens.ready);
  await v.drop(MNIST);
  await v.idle();
  const s = await v.state();
  assert.equal(s.focus.trace, 148);
  assert.equal(s.graph_executions.filter, 'bad');
  assert.equal(s.focus.frame, 1);
  assert.equal(s.theme, 'dark');
  assert.ok(Math.abs((await v.rect('pane:alerts')).w - alerts) < 2);
  await v.command('clear_filter');
  await v.command('reset_layout');
  await v.command('theme', { name: 'system' });
});

await check('keyboard only: from the drop to the cause line and on', async () => {
  await v.key('n', '3', 'ArrowDown');
  assert.equal((await v.state()).focus.trace, 89);
  await v.key('i');
  let s = await v.state();
  assert.equal(s.focus.trace, 87, 'first input of mul is Neg');
  await v.key('i');
  assert.equal((await v.state()).focus.trace, 88, 'the second is Log');
  await v.key('i');
  assert.equal((await v.state()).focus.trace, 87);
  await v.key('o');
  assert.equal((await v.state()).focus.trace, 89);
  await v.key('2', 'ArrowRight');
  s = await v.state();
  assert.equal(s.focus.execution, 20);
  await v.key('4', 'Tab');
  assert.equal((await v.state()).active_pane, 'source_code');
  await v.key('Control+Alt+a');
  await v.command('focus_trace', { index: 88 });
  await v.page.waitForTimeout(300);
  await v.command('focus_trace', { index: 89 });
  const mirror = await v.page.evaluate(() => document.getElementById('mirror').textContent);
  assert.match(mirror, /499 in all/);
  assert.match(mirror, /mul:0/);
  await v.key('Control+Alt+a');
  assert.equal(await v.page.evaluate(() => document.getElementById('mirror').textContent), '');
  await v.key('Shift+3');
  assert.equal((await v.state()).maximized, 'graph_executions');
  await v.key('Escape');
});
await v.close();

await check('files and archives through the API; empty, foreign and damaged ones say why', async () => {
  const w = await Viewer.open();
  await w.drop(ARCHIVE);
  assert.equal((await w.state()).alerts.total, 499);
  const empty = join(work, 'empty');
  mkdirSync(empty);
  writeFileSync(join(empty, 'readme.txt'), 'nothing');
  await w.drop(empty);
  let s = await w.state();
  assert.match(s.error, /No tfdbg2 files/);
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-error.png') });
  const damaged = join(work, 'damaged');
  cpSync(MNIST, damaged, { recursive: true });
  const traces = join(damaged, readdirSync(damaged).find((f) => f.endsWith('graph_execution_traces')));
  const bytes = readFileSync(traces);
  bytes[bytes.length >> 1] ^= 255;
  writeFileSync(traces, bytes.subarray(0, bytes.length - 5));
  await w.drop(damaged);
  s = await w.state();
  assert.ok(s.diagnostics.length >= 2, JSON.stringify(s.diagnostics));
  assert.ok(s.runs[0].num_traces >= 597);
  await w.click('diagnostics');
  assert.equal((await w.state()).popup, 'diagnostics');
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-diagnostics.png') });
  await w.key('Escape');
  const names = readdirSync(MNIST);
  const input = await w.page.$('#pick-files');
  await input.setInputFiles(names.map((n) => join(MNIST, n)));
  await w.loaded();
  assert.equal((await w.state()).alerts.total, 499);
  await w.close();
});

await check('a TensorFlow 1 session, several runs in one folder', async () => {
  const w = await Viewer.open();
  await w.drop(join(GOLDEN, 'session.FULL_HEALTH'));
  let s = await w.state();
  assert.equal(s.timeline.total, 0);
  assert.equal(s.focus.trace, 5);
  assert.ok(row(s, 4).roles.includes('input:0'));
  await w.drop(GOLDEN);
  s = await w.state();
  assert.equal(s.runs.length, 4);
  await w.click('run');
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-runs.png') });
  assert.equal((await w.state()).popup, 'runs');
  const other = s.runs.findIndex((r) => r.num_alerts === 59);
  await w.click(`run:${other}`);
  s = await w.state();
  assert.equal(s.run, s.runs[other].run_id);
  assert.equal(s.alerts.total, 59);
  await w.close();
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
  await w.page.waitForTimeout(1600);
  for (const [name, bytes] of tail) appendFileSync(join(growing, name), bytes);
  await w.page.waitForFunction(() => nanlens.state().runs[0].num_traces === 600, null, { timeout: 15000 });
  await w.idle();
  const after = await w.state();
  assert.deepEqual(after.focus, before.focus);
  assert.equal(after.alerts.total, 499);
  await w.close();
});

await check('?url= over http, with and without ranges; nothing from another server', async () => {
  let ranges = true;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    const send = (bytes, type) => {
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range || '');
      const headers = { 'content-type': type };
      if (range && ranges) {
        const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1);
        response.writeHead(206, { ...headers, 'content-length': part.length });
        response.end(part);
      } else {
        response.writeHead(200, { ...headers, 'content-length': bytes.length });
        response.end(request.method === 'HEAD' ? undefined : bytes);
      }
    };
    if (path === '/nanlens.html') send(readFileSync(PAGE), 'text/html');
    else if (path === '/run/index.json') send(Buffer.from(JSON.stringify(readdirSync(MNIST))), 'application/json');
    else if (path.startsWith('/run/')) send(readFileSync(join(MNIST, basename(path))), 'application/octet-stream');
    else response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${server.address().port}/nanlens.html`;
  for (ranges of [true, false]) {
    const w = await Viewer.open({ url: `${base}?url=run/` });
    await w.loaded();
    assert.equal((await w.state()).alerts.total, 499);
    await w.close();
  }
  const w = await Viewer.open({ url: `${base}?url=http://127.0.0.2:1/run/` });
  await w.page.waitForFunction(() => nanlens.state().error, null, { timeout: 5000 });
  assert.match((await w.state()).error, /another server/);
  await w.close();
  server.close();
});

await check('3.5 million rows: loaded in slices, scrolled, filtered, below 256 MB', async () => {
  const w = await Viewer.open();
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
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-big.png') });
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
    for (const [id, r] of Object.entries(await w.rects())) assert.ok(r.x >= 0 && r.y >= 0 && r.x + r.w <= width + 0.5 && r.y + r.h <= height + 0.5, `${id} at ${width}x${height}`);
    await w.page.screenshot({ path: join(process.env.SHOTS, `page-${width}x${height}@${scale}.png`) });
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

await check('Chinese text in names and source is readable', async () => {
  const w = await Viewer.open();
  await w.drop(process.env.CJK);
  const s = await w.state();
  assert.ok(s.runs[0].num_traces > 0);
  await w.page.screenshot({ path: join(process.env.SHOTS, 'page-cjk.png') });
  await w.close();
});

rmSync(work, { recursive: true });
await finish();
