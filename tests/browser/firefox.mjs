// The walkthrough once in Firefox ESR, in a real window (headless Firefox has no WebGL2): run under an X server.
import { strict as assert } from 'node:assert';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const puppeteer = createRequire(process.env.PLAYWRIGHT_FROM + '/')('puppeteer-core');
const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath: process.env.FIREFOX || '/usr/bin/firefox-esr',
  headless: false,
  extraPrefsFirefox: {
    'webgl.force-enabled': true,
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.update.enabled': false,
    'toolkit.telemetry.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'browser.safebrowsing.downloads.remote.enabled': false,
    'services.settings.server': 'data:,',
    'extensions.update.enabled': false,
  },
});
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 700 });
  const errors = [];
  page.on('pageerror', (e) => errors.push(e.message));
  await page.goto(pathToFileURL(process.env.PAGE).href);
  await page.evaluate(() => nanlens.ready);
  const state = () => page.evaluate(() => nanlens.idle().then(() => nanlens.state()));
  const until = async (condition, what) => {
    for (const end = Date.now() + 30000; ;) {
      const shown = await state();
      if (condition(shown)) return shown;
      assert.ok(Date.now() < end, `waited in vain for ${what}`);
    }
  };
  // Selectors and waitForFunction make functions from text, which the page's own policy forbids in some Firefoxes.
  const input = await page.evaluateHandle(() => document.getElementById('pick-files'));
  await input.uploadFile(...readdirSync(process.env.MNIST).map((name) => join(process.env.MNIST, name)));
  const s = await until((shown) => shown.runs.length > 0 && !shown.loading, 'the logdir');
  assert.equal(s.alerts.total, 499);
  assert.equal(s.runs[0].num_traces, 600);
  assert.equal(s.focus.trace, 88);
  assert.match(readFileSync(s.source_code.path, 'utf8').split('\n')[s.source_code.line - 1], /"Log"/);
  const rects = await page.evaluate(() => nanlens.rects());
  const at = rects['alert:53'];
  await page.mouse.click(at.x + at.w / 2, at.y + at.h / 2);
  await until((shown) => shown.focus.trace === 148, 'row 148');
  await page.keyboard.press('/');
  await until((shown) => shown.typing, 'the filter to take the keyboard');
  await page.keyboard.type('type:Log bad');
  await until((shown) => shown.graph_executions.shown === 9, 'nine rows');
  await page.screenshot({ path: join(process.env.SHOTS, 'firefox.png') });
  await page.goto(pathToFileURL(process.env.SHARED).href);
  await page.evaluate(() => nanlens.ready);
  const shared = await until((shown) => shown.focus.trace === 148, 'the view of the shared recording');
  assert.deepEqual([shared.alerts.total, shared.graph_executions.shown], [499, 9]);
  assert.deepEqual(errors, []);
  console.log(`ok    the walkthrough in ${await browser.version()}`);
} finally {
  await browser.close();
}
