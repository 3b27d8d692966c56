// Ways to open a logdir that a server or a browser makes difficult.
import { Viewer, assert, check, finish } from './harness.mjs';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const work = mkdtempSync(join(tmpdir(), 'nanlens-opening-'));
const { MNIST, ARCHIVE, SECOND_ARCHIVE, PAGE } = process.env;

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
      await new Promise((done) => setTimeout(done, 1500)); // more than two of the page's pauses
      yield* entries.call(this);
      walks.now -= 1;
      walks.ended += 1;
    };
  });
  await v.page.waitForFunction(() => walks.ended >= 1, null, { timeout: 60000 });
  assert.equal(await v.page.evaluate(() => walks.most), 1);
  await v.close();
});

rmSync(work, { recursive: true });
await finish();
