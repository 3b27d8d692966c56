// Where panes are in the page: moved by the mouse, in links, and one at a time in a phone's window.
import { Viewer, assert, check, checkInside, finish } from './harness.mjs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const { MNIST, SHOTS } = process.env;
const panes = ['timeline', 'graph_executions', 'graph_structure', 'source_code', 'stack_trace', 'alerts'];
const first = 'R2C0ac1R3tgeC4sk';
const moved = 'R2C0ac1R3tgTek.s'; // Stack Trace as a tab of Graph Executions

await check('a pane that is dragged elsewhere is in the hash, and where it was put after a reload', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  assert.equal((await v.state()).layout, first);
  await v.drag(await v.point('pane:stack_trace', 0.25), await v.point('pane:graph_executions'), 'drop:preview');
  assert.equal((await v.state()).layout, moved);
  await v.until((lay) => location.hash.includes('&lay=' + lay), moved);
  await v.page.evaluate(() => localStorage.clear());
  await v.page.reload();
  await v.page.evaluate(() => nanlens.ready);
  await v.drop(MNIST);
  assert.equal((await v.state()).layout, moved);
  await v.command('reset_layout');
  await v.until(() => !location.hash.includes('lay='));
  await v.close();
});

await check('a link brings its layout; one that can\'t be read changes nothing; a page has no windows for panes', async () => {
  for (const [link, layout] of [[moved, moved], ['R2garbage', first], [first + '-a', first]]) {
    const v = await Viewer.open({ hash: `#nl=1&t=148&lay=${link}` });
    await v.drop(MNIST);
    const s = await v.state();
    assert.deepEqual([s.layout, s.focus.trace], [layout, 148], link);
    await checkInside(v, 1280, 720, link);
    await v.close();
  }
});

await check('a link that is followed in an open page moves its panes', async () => {
  const v = await Viewer.open();
  await v.drop(MNIST);
  await v.page.evaluate((lay) => { location.hash = `#nl=1&t=207&lay=${lay}`; }, moved);
  await v.until((lay) => nanlens.state().layout === lay && nanlens.state().focus.trace === 207, moved);
  await v.close();
});

await check('on a phone one pane fills the window, tapped tabs change it, everything is as large as a finger', async () => {
  const v = await Viewer.open({ width: 390, height: 844, scale: 2, phone: true });
  await checkInside(v, 390, 844, 'on the start screen');
  await v.page.screenshot({ path: join(SHOTS, 'phone-start.png') });
  await (await v.page.$('#pick-files')).setInputFiles(readdirSync(MNIST).map((name) => join(MNIST, name)));
  await v.loaded();
  assert.equal((await v.state()).phone, true);
  for (const pane of panes) {
    const at = await v.point('tab:' + pane);
    await v.page.touchscreen.tap(at.x, at.y);
    await v.until((id) => nanlens.state().active_pane === id && nanlens.rects()['pane:' + id], pane);
    await v.idle();
    await checkInside(v, 390, 844, 'in ' + pane);
    const rects = await v.rects();
    assert.deepEqual(Object.keys(rects).filter((id) => id.startsWith('pane:')), ['pane:' + pane]);
    for (const id of Object.keys(rects).filter((id) => /^(tab:|help$|settings$|alerts:next$|stack:order$)/.test(id)))
      assert.ok(rects[id].w >= 40 && rects[id].h >= 40, `${id} in ${pane}: ${JSON.stringify(rects[id])}`);
    await v.page.screenshot({ path: join(SHOTS, `phone-${pane}.png`) });
  }
  const row = await v.point('tab:graph_executions');
  await v.page.touchscreen.tap(row.x, row.y);
  await v.until(() => nanlens.rects()['trace:85']);
  const at = await v.point('trace:85', 0.6);
  await v.page.touchscreen.tap(at.x, at.y);
  await v.until(() => nanlens.state().focus.trace === 85);
  await v.page.setViewportSize({ width: 1280, height: 720 });
  await v.until((lay) => !nanlens.state().phone && nanlens.state().layout === lay, first);
  await v.close();
});

await finish();
