// The page in a headless Chromium, opened from file://, driven with real mouse and keyboard events.
import { strict as assert } from 'node:assert';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(process.env.PLAYWRIGHT_FROM + '/')('playwright-core');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
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

/** A viewer page with helpers; `requests` lists every URL it asked for. */
export class Viewer {
  static async open({ width = 1280, height = 720, scale = 1, hash = '', url = pathToFileURL(process.env.PAGE).href, dark = false } = {}) {
    const viewer = new Viewer();
    viewer.context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: dark ? 'dark' : 'light' });
    await viewer.context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
    viewer.page = await viewer.context.newPage();
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
  /** A real drop of paths, as the operating system makes it; does not wait for anything. */
  async letGo(...paths) {
    const session = await this.context.newCDPSession(this.page);
    const data = { items: [], files: paths, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
  }
  async drop(...paths) {
    await this.letGo(...paths);
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
      await this.frames(1);
      await this.page.mouse.up({ button });
      await this.frames(1);
    }
    await this.idle();
  }
  async drag(from, to, steps = 5) {
    await this.page.mouse.move(from.x, from.y);
    await this.frames(1);
    await this.page.mouse.down();
    await this.frames(1);
    for (let i = 1; i <= steps; ++i) {
      await this.page.mouse.move(from.x + (to.x - from.x) * i / steps, from.y + (to.y - from.y) * i / steps);
      await this.frames(1);
    }
    await this.page.mouse.up();
    await this.idle();
  }
  frames(n) {
    return this.page.evaluate((count) => new Promise((done) => {
      const step = () => (count-- > 0 ? requestAnimationFrame(step) : done());
      step();
    }), n);
  }
  async key(...keys) {
    for (const k of keys) {
      await this.page.keyboard.press(k, { delay: 20 });
      await this.idle();
    }
  }
  async type(text) {
    await this.page.keyboard.type(text, { delay: 8 });
    await this.frames(2);
    await this.idle();
  }
}

export { assert };
