// The page on a large logdir, in headless Chromium: prints JSON lines. BIG is the logdir, BAD one as large in which every
// tensor is bad, PAGE the page.
import { Viewer, closeBrowser } from '../browser/harness.mjs';

const print = (name, value) => console.log(JSON.stringify({ name, value }));
// Lets a logdir go on the page and waits until all of it is read, and the first bad tensor is selected.
async function read(viewer, logdir) {
  await viewer.letGo([logdir]);
  // Asked seldom: each question is work for the page too.
  for (let more = true; more;) {
    await new Promise((done) => setTimeout(done, 200));
    more = await viewer.page.evaluate(() => {
      const s = nanlens.state();
      return s.runs.length === 0 || s.loading !== null || s.focus.execution === null;
    });
  }
}

const viewer = await Viewer.open();
await viewer.idle();
print('second_frame_ms', await viewer.page.evaluate(() => window.nlSecondFrame ?? performance.now()));
await viewer.page.evaluate(() => {
  window.tasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((e) => window.tasks.push(e.duration))).observe({ entryTypes: ['longtask'] });
  window.frames = [];
  window.own = 0;
  for (const name of ['_nl_frame', '_nl_reply', '_nl_command', '_nl_open', '_nl_prepare_open']) {
    const inner = Module[name];
    Module[name] = (...given) => {
      const begin = performance.now();
      const answer = inner(...given);
      const took = performance.now() - begin;
      if (name === '_nl_frame') window.frames.push(took);
      window.own = Math.max(window.own, took);
      return answer;
    };
  }
});
const longest = () => viewer.page.evaluate(() => Math.max(0, ...window.tasks.splice(0)));
const start = Date.now();
await read(viewer, process.env.BIG);
print('open_s', (Date.now() - start) / 1000);
await viewer.idle();
print('heaps_mb', (await viewer.state()).memory_bytes / 1e6);
print('longest_task_open_ms', await longest());
print('longest_own_ms', await viewer.page.evaluate(() => window.own));

const rows = (await viewer.state()).graph_executions.total;
for (const [name, query] of [['warm', 'op:x'], ['text', 'matmul'], ['nan', 'nan>0']]) {
  const begin = Date.now();
  await viewer.command('filter', { query });
  print(`filter_${name}_ms`, Date.now() - begin);
}
await viewer.command('filter', { query: '' });
await viewer.page.evaluate(() => window.frames.splice(0));
for (let i = 0; i < 60; ++i) await viewer.command('scroll_to', { pane: 'graph_executions', index: Math.floor((rows * (i % 20)) / 20) + i });
const frames = (await viewer.page.evaluate(() => window.frames)).sort((a, b) => a - b);
print('scroll_frame_median_ms', frames[Math.floor(frames.length / 2)]);
print('scroll_frame_95_ms', frames[Math.floor(frames.length * 0.95)]);
print('longest_task_after_ms', await longest());
await viewer.idle();
const before = (await viewer.state()).frame;
await new Promise((done) => setTimeout(done, 1500));
print('frames_when_idle', (await viewer.state()).frame - before);
await viewer.close();

const bad = await Viewer.open();
await read(bad, process.env.BAD);
const read_at = Date.now();
await bad.idle();
print('causes_s', (Date.now() - read_at) / 1000);
await bad.close();
await closeBrowser();
