// Ways to open a logdir that a server or a browser makes difficult.
import { Viewer, assert, check, finish } from './harness.mjs';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const work = mkdtempSync(join(tmpdir(), 'nanlens-opening-'));
const { MNIST, SHARED, GOLDEN, ARCHIVE, SECOND_ARCHIVE, PAGE } = process.env;

/** A server of the page and of the walkthrough; `answer(request, bytes, response)` answers for the logdir's files. */
async function serve(answer, use) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    if (path === '/nanlens.html') response.end(readFileSync(PAGE));
    else if (path === '/run/index.json') response.end(JSON.stringify(readdirSync(MNIST)));
    else if (path === '/other/index.json') response.end('["readme.txt"]');
    else if (path.startsWith('/run/')) answer(request, readFileSync(join(MNIST, basename(path))), response);
    else response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  try {
    await use(`http://127.0.0.1:${server.address().port}/nanlens.html`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
const ranged = (request, bytes, response) => {
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range);
  const part = bytes.subarray(Number(from), Number(to) + 1);
  response.writeHead(206, { 'content-range': `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}` }).end(part);
};
const opens = async (base) => {
  const v = await Viewer.open({ url: `${base}?url=run/` });
  await v.loaded();
  const s = await v.state();
  assert.deepEqual([s.runs.length, s.alerts.total, s.diagnostics.length], [1, 499, 0]);
  await v.close();
};

const lengths = (request, bytes, response) => response.writeHead(200, { 'content-length': bytes.length }).end(request.method === 'HEAD' ? undefined : bytes);

await check('?url= from a server with ranges, and from one without', async () => {
  await serve((request, bytes, response) => (request.method === 'HEAD' ? lengths : ranged)(request, bytes, response), opens);
  await serve(lengths, opens);
});

await check('?url= asks nothing of another server', () => serve(lengths, async (base) => {
  const v = await Viewer.open({ url: `${base}?url=http://127.0.0.2:1/run/` });
  await v.loaded();
  assert.match((await v.state()).error, /another server/);
  assert.ok(v.requests.every((r) => !r.startsWith('http://127.0.0.2')), v.requests.join());
  await v.close();
}));

await check('?url= where HEAD is refused: a ranged request tells the size', () => serve((request, bytes, response) => {
  if (request.method === 'HEAD') response.writeHead(405).end();
  else ranged(request, bytes, response);
}, opens));

await check('?url= where no length and no ranges are given: the whole file comes', () => serve((request, bytes, response) => {
  response.writeHead(200, { 'transfer-encoding': 'chunked' });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}, opens));

await check('?url= where nothing can be read, or nothing is listed: a word, not 0 rows', () => serve((request, bytes, response) => {
  response.writeHead(403).end();
}, async (base) => {
  for (const [directory, words] of [['run', /403/], ['other', /no tfdbg2 files/], ['missing', /404/]]) {
    const v = await Viewer.open({ url: `${base}?url=${directory}/` });
    await v.loaded();
    assert.match((await v.state()).error, words);
    await v.close();
  }
}));

await check('?url= where one file can\'t be read: the rest is shown, and the reason', () => serve((request, bytes, response) => {
  if (request.url.endsWith('.source_files')) response.writeHead(403).end();
  else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': bytes.length }).end();
  else ranged(request, bytes, response);
}, async (base) => {
  const v = await Viewer.open({ url: `${base}?url=run/` });
  await v.loaded();
  const s = await v.state();
  assert.equal(s.alerts.total, 499);
  assert.ok(s.diagnostics.some((d) => /403/.test(d.message)), JSON.stringify(s.diagnostics));
  await v.close();
}));

await check('files that are picked, and the files of a folder that are dropped without it', async () => {
  const names = readdirSync(MNIST).map((n) => join(MNIST, n));
  const v = await Viewer.open();
  await (await v.page.$('#pick-files')).setInputFiles(names);
  await v.loaded();
  assert.equal((await v.state()).alerts.total, 499);
  await v.command('close_logdir');
  assert.equal((await v.state()).runs.length, 0);
  await v.drop(...names);
  const s = await v.state();
  assert.deepEqual([s.runs.length, s.alerts.total, s.focus.trace], [1, 499, 88]);
  await v.close();
});

await check('another drop takes the place of what is open; a text that is dropped changes nothing', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.letGo([], 'some words');
  await v.idle();
  assert.equal((await v.state()).focus.trace, 88);
  await v.drop(GOLDEN);
  let s = await v.state();
  assert.equal(s.runs.length, 4);
  const empty = join(work, 'empty');
  mkdirSync(empty);
  writeFileSync(join(empty, 'readme.txt'), 'nothing');
  await v.drop(empty);
  s = await v.state();
  assert.match(s.error, /No tfdbg2 files/);
  assert.equal(s.runs.length, 0);
  assert.ok((await v.rects()).error, 'the start screen says so');
  await v.drop(ARCHIVE);
  s = await v.state();
  assert.deepEqual([s.error, s.alerts.total], [null, 499]);
  await v.close();
});

await check('the source file that the logdir lacks is shown when it is dropped, another file is not taken for it', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.command('focus_source', { path: '/home/u/lost.py', line: 2 });
  assert.equal((await v.state()).source_code.num_lines, 0);
  const lost = join(work, 'lost.py');
  writeFileSync(lost, 'first\nsecond\nthird');
  await v.letGo([lost]);
  await v.until(() => nanlens.state().source_code.num_lines === 3);
  const s = await v.state();
  assert.deepEqual([s.source_code.given, s.source_code.line, s.alerts.total], [true, 2, 499]);
  await v.close();
});

await check('two archives dropped together are both opened', async () => {
  const v = await Viewer.open();
  await v.drop(ARCHIVE, SECOND_ARCHIVE);
  const s = await v.state();
  assert.equal(s.error, null);
  assert.equal(s.runs.length, 2);
  assert.deepEqual(s.runs.map((r) => r.num_traces > 0), [true, true]);
  await v.close();
});

await check('an archive is known by its extension in any letter case', async () => {
  const shouted = join(work, 'A.TAR.ZST');
  cpSync(ARCHIVE, shouted);
  const v = await Viewer.open();
  await v.drop(shouted);
  assert.equal((await v.state()).alerts.total, 499);
  await v.close();
});

await check('a followed folder that is slow to list is walked once at a time', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.page.evaluate(() => {
    window.walks = { now: 0, most: 0, ended: 0 };
    const entries = FileSystemDirectoryHandle.prototype.entries;
    FileSystemDirectoryHandle.prototype.entries = async function* () {
      walks.now += 1;
      walks.most = Math.max(walks.most, walks.now);
      await new Promise((done) => setTimeout(done, 1500)); // how slow the folder is: more than two of the page's pauses
      yield* entries.call(this);
      walks.now -= 1;
      walks.ended += 1;
    };
  });
  await v.until(() => walks.ended >= 1);
  assert.equal(await v.page.evaluate(() => walks.most), 1);
  await v.close();
});

await check('a shared recording: by itself at its view, elsewhere by a link, and another one can be dropped', async () => {
  const url = pathToFileURL(SHARED).href;
  const v = await Viewer.open({ url });
  let s = await v.state();
  assert.deepEqual([s.runs.length, s.alerts.total, s.focus.trace, s.graph_executions.shown], [1, 499, 148, 9]);
  assert.deepEqual([s.error, s.diagnostics.length], [null, 0]);
  assert.deepEqual(v.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  await v.drop(GOLDEN);
  s = await v.state();
  assert.equal(s.runs.length, 4);
  await v.close();
  const linked = await Viewer.open({ url, hash: '#nl=1&t=89' });
  assert.equal((await linked.state()).focus.trace, 89);
  await linked.close();
});

await check('a dropped folder with nanlens.mutes alarms no more, and Share… downloads it: by itself the same run at the same view', async () => {
  const folder = join(work, 'muted');
  cpSync(MNIST, folder, { recursive: true });
  writeFileSync(join(folder, 'nanlens.mutes'), 'type:Log -- what it is about\ntype:Exp -- there is none\n');
  const shows = async (v, row) => {
    const s = await v.state();
    assert.deepEqual([s.runs.length, s.alerts.total, s.alerts.muted, s.focus.trace, s.graph_executions.shown], [1, 499, 499, row, 9]);
    assert.equal(s.verdict.all_muted, true);
    assert.equal(s.error, null);
    assert.match(s.diagnostics.map((d) => `${d.file} ${d.message}`).join(), /^[^,]*nanlens\.mutes:2 matches nothing here$/);
  };
  const share = async (v, row, name) => {
    await v.command('focus_trace', { index: row });
    const download = v.page.waitForEvent('download');
    await v.click('share');
    await v.click('share:write');
    const file = join(work, name);
    await (await download).saveAs(file);
    await v.until(() => nanlens.state().toasts.some((t) => t.includes('muted.html')));
    await v.close();
    return Viewer.open({ url: pathToFileURL(file).href });
  };
  const v = await Viewer.open();
  await v.drop(folder);
  await v.command('filter', { query: 'type:Log bad' });
  const first = await share(v, 148, 'first.html');
  await shows(first, 148);
  assert.deepEqual(first.requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  const second = await share(first, 219, 'second.html'); // what was shared can be shared
  await shows(second, 219);
  await second.close();
});

rmSync(work, { recursive: true });
await finish();
