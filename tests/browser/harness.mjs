// The page in a headless Chromium, opened from file://, driven with real mouse and keyboard events.
import { strict as assert } from 'node:assert';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(process.env.PLAYWRIGHT_FROM + '/')('playwright-core');

const flags = [...(process.env.CHROMIUM_FLAGS?.split(' ') ?? []), '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

export const launch = (...more) => chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: [...flags, ...more] });
const browser = await launch();

let passed = 0;
const failures = [];
/** Runs one check; a failure does not stop the others. */
export async function check(name, body) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  const start = Date.now();
  try {
    await body();
    passed += 1;
    console.log(`ok    ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
}
/** Ends the program with the count. */
export const closeBrowser = () => browser.close();

export async function finish() {
  await closeBrowser();
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exit(failures.length === 0 && passed > 0 ? 0 : 1);
}

/** In every page: counts what the tests wait for, drops that have arrived and looks at a followed folder that have ended. */
const watch = () => {
  window.seen = { drops: 0, looks: 0 };
  addEventListener('drop', () => { seen.drops += 1; });
  if (!window.FileSystemDirectoryHandle) return;
  const entries = FileSystemDirectoryHandle.prototype.entries;
  FileSystemDirectoryHandle.prototype.entries = async function* () {
    yield* entries.call(this);
    seen.looks += 1;
  };
};

/**
 * A viewer page with helpers; `requests` lists every URL it asked for. A pixel of the screen is four of the page's where a
 * test does not look at them: painting, in software, is most of the time.
 */
export class Viewer {
  static async open({ width = 1280, height = 720, scale = 0.5, hash = '', url = pathToFileURL(process.env.PAGE).href, dark = false, phone = false, before = null } = {}) {
    const viewer = new Viewer();
    viewer.context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: dark ? 'dark' : 'light', isMobile: phone, hasTouch: phone });
    await viewer.context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
    viewer.page = await viewer.context.newPage();
    await viewer.page.addInitScript(watch);
    if (before) await viewer.page.addInitScript(before);
    viewer.errors = [];
    viewer.requests = [];
    viewer.page.on('pageerror', (e) => viewer.errors.push(e.message));
    viewer.page.on('request', (r) => viewer.requests.push(r.url()));
    await viewer.page.goto(url + hash);
    await viewer.page.evaluate(() => nanlens.ready);
    return viewer;
  }
  async close() {
    assert.deepEqual(this.errors, []);
    await this.context.close();
  }
  state() {
    return this.page.evaluate(() => nanlens.state());
  }
  rects() {
    return this.page.evaluate(() => nanlens.rects());
  }
  idle() {
    return this.page.evaluate(() => nanlens.idle());
  }
  async command(name, args = {}) {
    const result = await this.page.evaluate(([n, a]) => nanlens.command(n, a), [name, args]);
    await this.idle();
    return result;
  }
  /** Waits until a function of the page is true; `idle` is not enough where the platform brings the news. */
  until(condition, argument = null) {
    return this.page.waitForFunction(condition, argument, { timeout: 30000 });
  }
  /** Waits until a followed folder was looked at so many times more. */
  async looks(n) {
    const wanted = (await this.page.evaluate(() => seen.looks)) + n;
    await this.until((count) => seen.looks >= count, wanted);
  }
  /** A real drop of paths, or of a text, as the operating system makes it; waits until the page has taken it. */
  async letGo(paths, text = null) {
    const session = await this.context.newCDPSession(this.page);
    const items = text === null ? [] : [{ mimeType: 'text/plain', data: text }];
    const data = { items, files: paths, dragOperationsMask: 1 };
    const before = await this.page.evaluate(() => seen.drops);
    for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
    await this.until((count) => seen.drops > count, before);
  }
  async drop(...paths) {
    await this.letGo(paths);
    await this.loaded();
  }
  async loaded() {
    await this.page.waitForFunction(() => {
      const s = nanlens.state();
      return (s.runs.length > 0 || s.error) && !s.loading;
    }, null, { timeout: 120000 });
    await this.idle();
  }
  async rect(id) {
    const rects = await this.rects();
    assert.ok(rects[id], `nothing on screen is called ${id}`);
    return rects[id];
  }
  async point(id, fx = 0.5, fy = 0.5) {
    const r = await this.rect(id);
    return { x: r.x + r.w * fx, y: r.y + r.h * fy };
  }
  async click(id, { button = 'left', count = 1, fx = 0.5, fy = 0.5 } = {}) {
    const at = await this.point(id, fx, fy);
    await this.page.mouse.move(at.x, at.y);
    await this.idle();
    for (let i = 0; i < count; ++i) {
      await this.page.mouse.down({ button });
      await this.page.mouse.up({ button });
    }
    await this.idle();
  }
  async key(...keys) {
    for (const k of keys) {
      await this.page.keyboard.press(k);
      await this.idle();
    }
  }
  async type(text) {
    await this.until(() => nanlens.state().typing);
    await this.page.keyboard.type(text);
    await this.idle();
  }
  /** Presses the button at one place and lets it go at another, when `id` is on screen. */
  async drag(from, to, id = null) {
    await this.page.mouse.move(from.x, from.y);
    await this.idle();
    await this.page.mouse.down();
    for (const share of [0.1, 0.5, 0.9, 1]) {
      await this.page.mouse.move(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share);
      await this.idle();
    }
    if (id) await this.until((shown) => nanlens.rects()[shown], id);
    await this.page.mouse.up();
    await this.idle();
  }
}

/** Fails if anything on screen reaches beyond the window. */
export async function checkInside(v, width, height, what) {
  for (const [id, r] of Object.entries(await v.rects()))
    assert.ok(r.x >= 0 && r.y >= 0 && r.x + r.w <= width + 0.5 && r.y + r.h <= height + 0.5, `${id} ${what}: ${JSON.stringify(r)}`);
}

export { assert };
