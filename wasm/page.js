// The page's side of the viewer: files, input, clipboard, the URL, and window.nanlens for whoever drives it from outside.
'use strict';
(() => {
  const element = (id) => document.getElementById(id);
  const canvas = element('canvas');
  const keyboard = element('keyboard');
  const page = {};
  let ready = false;
  let workerHeap = 0;

  const fail = (text) => {
    element('fault').textContent = text;
    element('fault').style.display = 'block';
    canvas.style.display = 'none';
  };
  page.fail = fail;

  const withText = (text, use) => {
    const size = lengthBytesUTF8(text) + 1;
    const at = Module._malloc(size);
    stringToUTF8(text, at, size);
    try {
      return use(at);
    } finally {
      Module._free(at);
    }
  };
  const textAt = (at) => UTF8ToString(at);

  // ---- frames: one at a time, only when something happened
  let scheduled = false;
  let timer = 0;
  const wake = (frames) => {
    if (!ready) return;
    if (frames) Module._nl_wake(frames);
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(draw);
  };
  const draw = (now) => {
    scheduled = false;
    const due = Module._nl_frame(now / 1000);
    settle();
    mirror();
    clearTimeout(timer);
    if (due === 0) wake(0);
    else if (due > 0) timer = setTimeout(() => wake(1), due * 1000);
  };
  page.wake = wake;

  const waiting = [];
  let collecting = 0; // folders whose files are still being listed
  const settle = () => {
    if (waiting.length === 0 || collecting > 0 || !Module._nl_idle()) return;
    for (const done of waiting.splice(0)) done();
  };

  // ---- the worker: the program's own script, started from a Blob, because file:// allows nothing else
  let worker = null;
  const startWorker = () => {
    if (worker) worker.terminate();
    workerHeap = 0;
    let program = '';
    for (const script of document.scripts)
      if (script.type !== 'text/plain' && script.textContent.length > program.length) program = script.textContent;
    const url = URL.createObjectURL(new Blob([element('worker').textContent, '\n', program], { type: 'text/javascript' }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.postMessage({ program: page.program });
    worker.onmessage = (event) => {
      workerHeap = event.data.heap;
      const bytes = new Uint8Array(event.data.reply);
      const at = Module._malloc(bytes.length);
      HEAPU8.set(bytes, at);
      Module._nl_reply(at, bytes.length);
      Module._free(at);
      // Hidden pages get no animation frames, but what was answered must still be taken in.
      if (document.hidden) Module._nl_frame(performance.now() / 1000), settle();
      wake(0);
    };
    worker.onerror = (event) => fail('nanlens stopped: ' + event.message);
  };
  page.send = (at, size) => {
    if (!worker) startWorker();
    const copy = HEAPU8.slice(at, at + size);
    worker.postMessage({ request: copy.buffer }, [copy.buffer]);
  };
  page.restart = () => {
    source = null;
    copied = false;
    startWorker();
  };
  page.heap = () => HEAPU8.length + workerHeap;

  // ---- opening
  let source = null; // how to look again at what was opened; null if the browser allows it no second time
  let known = ''; // names and sizes of what the worker has
  const sizesOf = (files) => JSON.stringify(files.map((f) => [f.name, f.size ?? f.blob.size]));
  const isLogdirFile = (name) => /(^|\/)tfdbg_events\..*\.(metadata|execution|graphs|graph_execution_traces|source_files|stack_frames|live)$/.test(name);
  const isArchive = (name) => /\.(nanlens|tar|tar\.zst|zst)$/i.test(name);

  const isOwnText = (name) => /(^|\/)nanlens\.(mutes|rules)$/.test(name);
  const isWanted = (name) => isLogdirFile(name) || isArchive(name) || isOwnText(name);

  let opened = { name: '', files: [] };
  let copied = false; // what is open is part of this file
  const openList = (files, look, copy = false) => {
    source = look;
    copied = copy;
    const wanted = files.filter((f) => isWanted(f.name));
    known = sizesOf(wanted);
    startWorker();
    worker.postMessage({ files: wanted.length > 0 ? wanted : files.slice(0, 1) });
    const first = files.length > 0 ? files[0].name : '';
    const archives = wanted.filter((f) => isArchive(f.name)).map((f) => f.name);
    const together = archives.length > 0 && archives.length === wanted.length ? archives.join(', ') : 'logdir';
    const name = first.includes('/') ? first.split('/')[0] : together;
    opened = { name, files: wanted };
    withText(name, (at) => Module._nl_open(at));
    wake(3);
  };
  const idle = () => new Promise((done) => {
    waiting.push(done);
    wake(1);
  });
  const openFiles = (list) => {
    const files = Array.from(list, (f) => ({ name: f.webkitRelativePath || f.name, blob: f }));
    openList(files, null);
    return idle();
  };

  const walkHandle = async (handle, name, out, wanted) => {
    if (handle.kind === 'file') {
      if (wanted(name)) out.push({ name, blob: await handle.getFile() });
      return;
    }
    const inner = [];
    for await (const [child, entry] of handle.entries()) inner.push(walkHandle(entry, name + '/' + child, out, wanted));
    await Promise.all(inner);
  };
  const walkEntry = (entry, name, out) => new Promise((done, failed) => {
    if (entry.isFile) {
      entry.file((blob) => done(out.push({ name, blob })), failed);
      return;
    }
    const reader = entry.createReader();
    const found = [];
    const more = () => reader.readEntries(async (entries) => {
      if (entries.length > 0) {
        found.push(...entries);
        more();
        return;
      }
      await Promise.all(found.map((child) => walkEntry(child, name + '/' + child.name, out)));
      done();
    }, failed);
    more();
  });
  const collect = async (handles, wanted) => {
    const out = [];
    await Promise.all(handles.map((h) => walkHandle(h, h.name, out, wanted)));
    out.sort((a, b) => (a.name < b.name ? -1 : 1));
    return out;
  };
  // What was shown goes at once; the page is busy until the files are listed.
  const opening = async (work) => {
    collecting += 1;
    Module._nl_prepare_open();
    wake(3);
    try {
      await work;
    } catch (error) {
      withText(String(error.message), (at) => Module._nl_error(at));
    }
    collecting -= 1;
    wake(3);
  };
  const openHandles = async (handles) => openList(await collect(handles, () => true), () => collect(handles, isWanted));

  // Chromium reads a dropped folder on file:// only by its handle, Firefox only by its entry.
  const openDrop = async (transfer) => {
    const items = Array.from(transfer.items).filter((i) => i.kind === 'file');
    const entries = items.map((i) => (i.webkitGetAsEntry ? i.webkitGetAsEntry() : null));
    const handles = items.map((i) => (i.getAsFileSystemHandle ? i.getAsFileSystemHandle() : null));
    const blobs = items.map((i) => i.getAsFile());
    const found = (await Promise.all(handles.map((h) => Promise.resolve(h).catch(() => null)))).filter(Boolean);
    try {
      if (found.length === items.length && found.length > 0) return await openHandles(found);
    } catch (error) {
      console.warn('handles: ' + error.name);
    }
    const out = [];
    try {
      await Promise.all(entries.filter(Boolean).map((e) => walkEntry(e, e.name, out)));
      out.sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      console.warn('entries: ' + error.name);
    }
    openList(out.length > 0 ? out : blobs.filter(Boolean).map((blob) => ({ name: blob.name, blob })), null);
  };

  let following = true;
  page.follow = (on) => {
    following = on;
  };
  page.isCopy = () => (copied ? 1 : 0);
  page.canFollow = () => (source ? 1 : 0);
  // A look at a large folder takes longer than the interval: one at a time, and ten times as long in between.
  let nextLook = 0;
  setInterval(async () => {
    if (!ready || !following || !source || document.hidden || !Module._nl_idle() || performance.now() < nextLook) return;
    const start = performance.now();
    nextLook = Infinity;
    const look = source;
    try {
      const files = await look();
      if (source !== look) return; // something else was opened meanwhile
      const now = sizesOf(files);
      if (now === known) return;
      known = now;
      opened.files = files;
      worker.postMessage({ files });
      command('reload', {});
    } catch (error) {
      console.warn('follow: ' + error.name);
      if (source === look) source = null;
    } finally {
      nextLook = performance.now() + 10 * (performance.now() - start);
    }
  }, 700);
  page.pick = async (folder) => {
    if (folder && window.showDirectoryPicker) {
      try {
        await openHandles([await window.showDirectoryPicker({ mode: 'read' })]);
      } catch (error) {
        if (error.name !== 'AbortError') element('pick-folder').click();
      }
      return;
    }
    element(folder ? 'pick-folder' : 'pick-files').click();
  };
  for (const id of ['pick-folder', 'pick-files']) {
    element(id).addEventListener('change', (event) => {
      if (event.target.files.length > 0) openFiles(event.target.files);
      event.target.value = '';
    });
  }
  addEventListener('dragover', (event) => event.preventDefault());
  // One file that is dropped may be the source that the open logdir lacks.
  const takeSource = async (file) => {
    const text = await file.text();
    withText(text, (at) => Module._nl_give_source(at));
    wake(3);
  };
  addEventListener('drop', (event) => {
    event.preventDefault();
    const files = event.dataTransfer.files;
    if (!event.dataTransfer.types.includes('Files')) return; // a text, a link: nothing to open
    if (files.length === 1 && withText(files[0].name, (at) => Module._nl_wants_source(at))) takeSource(files[0]);
    else opening(openDrop(event.dataTransfer));
  });

  // What this file holds as text, as bytes again.
  const bytesOf = (id) => {
    const text = atob(element(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  };
  const through = (blob, stream) => new Response(blob.stream().pipeThrough(stream)).blob();
  page.hasSample = () => (element('sample').textContent ? 1 : 0);
  // The recording that `nanlens share` has put in; its text is not needed a second time.
  const openShared = async () => {
    const run = element('run');
    let blob = new Blob([bytesOf('run')]);
    run.textContent = '';
    if (run.dataset.packing === 'gzip') blob = await through(blob, new DecompressionStream('gzip'));
    openList([{ name: run.dataset.name, blob }], null, true);
  };
  page.openSample = () => openList([{ name: 'sample.nanlens', blob: new Blob([bytesOf('sample')]) }], null, true);

  // A file on the server. Some servers refuse HEAD or tell no length: then a ranged request tells it, else the whole file comes.
  const remoteFile = async (name, url) => {
    const head = await fetch(url, { method: 'HEAD' }).catch(() => null);
    const length = head && head.ok && !head.headers.get('content-encoding') ? head.headers.get('content-length') : null;
    if (length !== null) return { name, url, size: Number(length) };
    const answer = await fetch(url, { headers: { Range: 'bytes=0-0' } });
    const range = /\/(\d+)$/.exec(answer.headers.get('content-range') || '');
    if (range && (answer.status === 206 || answer.status === 416)) return { name, url, size: Number(range[1]) };
    const whole = answer.status === 200 ? answer : await fetch(url);
    if (whole.status !== 200) throw new Error(url + ': the server answered ' + whole.status);
    return { name, blob: await whole.blob() };
  };
  // All that can be had. What can't be stays in the list with the reason, which the reader meets and reports.
  const remoteFiles = async (files) => {
    const found = await Promise.allSettled(files.map((f) => remoteFile(f.name, f.url)));
    if (found.every((f) => f.status === 'rejected')) throw found[0].reason;
    return found.map((f, i) => f.value || { ...files[i], size: 4096, fault: f.reason.message });
  };

  // ?url=DIR/: a logdir beside the page, on the same server. DIR/index.json lists the names.
  const openUrl = async (directory) => {
    const base = new URL(directory.endsWith('/') ? directory : directory + '/', location.href);
    if (base.origin !== location.origin) throw new Error('another server may not be asked: ' + base.origin);
    const look = async () => {
      const answer = await fetch(new URL('index.json', base));
      if (!answer.ok) throw new Error(new URL('index.json', base) + ': the server answered ' + answer.status);
      const folder = directory.replace(/\/+$/, '').split('/').pop() + '/';
      const names = (await answer.json()).filter(isWanted);
      if (names.length === 0) throw new Error(new URL('index.json', base) + ' names no tfdbg2 files');
      return remoteFiles(names.map((name) => ({ name: folder + name, url: new URL(name, base).href })));
    };
    const files = await look();
    openList(files, files.some((f) => f.blob) ? null : look); // whole files again and again would be too much
  };

  // ---- input
  page.caret = (x, y, h) => {
    keyboard.style.left = x + 'px';
    keyboard.style.top = y + 'px';
    keyboard.style.height = h + 'px';
  };
  page.cursor = (name) => {
    canvas.style.cursor = name;
  };
  page.copy = (text) => {
    page.copied = text;
    if (navigator.clipboard && navigator.clipboard.writeText) navigator.clipboard.writeText(text).catch(() => {});
  };

  // An exported list comes in parts, which the browser keeps as one Blob until it is downloaded.
  let parts = [];
  page.savePart = (name, bytes, first, complete) => {
    if (first) parts = [];
    parts.push(new Blob([bytes]));
    if (!complete) return;
    download(name, new Blob(parts.splice(0), { type: 'text/plain' }));
  };
  const download = (name, blob) => {
    const url = URL.createObjectURL(blob);
    Object.assign(document.createElement('a'), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };

  // ---- Share: this page again, with what is open in it. A page from file:// can't fetch itself, so its text is kept.
  const placeBegin = '<script type="text/plain" id="run"';
  const placeEnd = '></' + 'script>';
  let blank = '';
  const keepPage = () => {
    const run = element('run');
    const recording = run.textContent;
    const facts = { ...run.dataset };
    run.textContent = '';
    for (const key of Object.keys(facts)) delete run.dataset[key];
    blank = '<!doctype html>\n' + document.documentElement.outerHTML;
    run.textContent = recording;
    Object.assign(run.dataset, facts);
  };
  // A header of a tar file (POSIX ustar). Long paths are divided between name and prefix.
  const tarHeader = (path, size) => {
    const bytes = new Uint8Array(512);
    const put = (at, length, text) => {
      const encoded = new TextEncoder().encode(text);
      if (encoded.length > length) throw new Error(path + ' is too long a name');
      bytes.set(encoded, at);
    };
    const octal = (n, digits) => n.toString(8).padStart(digits, '0');
    const cut = path.length > 100 ? path.indexOf('/', path.length - 101) : -1;
    put(0, 100, path.slice(cut + 1));
    put(100, 24, '0000644\0' + '0000000\0' + '0000000\0');
    put(124, 12, octal(size, 11));
    put(136, 12, octal(Math.floor(Date.now() / 1000), 11));
    put(148, 9, '        0');
    put(257, 8, 'ustar\u000000');
    put(345, 155, path.slice(0, Math.max(0, cut)));
    put(148, 8, octal(bytes.reduce((sum, byte) => sum + byte, 0), 6) + '\0 ');
    return bytes;
  };
  // An archive goes as it is; files go as one, which browsers can compress only with gzip.
  const packed = async (files) => {
    const archives = files.filter((f) => isArchive(f.name));
    if (archives.length > 1) throw new Error('several archives are open: one of them alone can be handed on');
    const blobOf = async (file) => {
      if (file.blob) return file.blob;
      const answer = await fetch(file.url);
      if (!answer.ok) throw new Error(file.url + ': the server answered ' + answer.status);
      return answer.blob();
    };
    const only = archives.length > 0 ? await blobOf(archives[0]) : null;
    if (only && !/\.tar$/i.test(archives[0].name)) return { blob: only, kind: '.nanlens', packing: '' };
    const parts = [];
    for (const file of only ? [] : files) {
      const blob = await blobOf(file);
      parts.push(tarHeader(file.name, blob.size), blob, new Uint8Array((512 - blob.size % 512) % 512));
    }
    const tar = only || new Blob([...parts, new Uint8Array(1024)]);
    return { blob: await through(tar, new CompressionStream('gzip')), kind: '.tar', packing: 'gzip' };
  };
  const base64 = async (blob) => {
    const step = 3 * 2 ** 18;
    const some = 2 ** 15; // arguments that a call takes
    const texts = [];
    for (let at = 0; at < blob.size; at += step) {
      const bytes = new Uint8Array(await blob.slice(at, at + step).arrayBuffer());
      let text = '';
      for (let i = 0; i < bytes.length; i += some) text += String.fromCharCode(...bytes.subarray(i, i + some));
      texts.push(btoa(text));
    }
    return texts;
  };
  const shareStem = () => opened.name.replace(/(\.nanlens|\.tar|\.zst|\.tar\.zst)$/i, '') || 'logdir';
  page.shareName = () => shareStem() + '.html';
  const share = async (view) => {
    if (opened.files.length === 0) throw new Error('nothing is open');
    const name = shareStem();
    const run = await packed(opened.files);
    const attribute = (text) => text.replace(/[&"<>]/g, (c) => '&#' + c.charCodeAt(0) + ';');
    const facts = { name: name + run.kind, view, ...(run.packing ? { packing: run.packing } : {}) };
    const attributes = Object.entries(facts).map(([key, value]) => ' data-' + key + '="' + attribute(value) + '"').join('');
    const at = blank.lastIndexOf(placeBegin + placeEnd) + placeBegin.length;
    const html = [blank.slice(0, at), attributes, '>', ...await base64(run.blob), blank.slice(at + 1)];
    download(name + '.html', new Blob(html, { type: 'text/html' }));
    return name + '.html';
  };
  page.share = (view) => {
    const tell = (ok) => (text) => withText(text, (at) => Module._nl_shared(at, ok)) || wake(3);
    share(view).then(tell(1), (error) => tell(0)(String(error.message)));
  };

  // ---- the view in the URL's hash
  let written = '';
  page.link = (link, newEntry) => {
    written = '#' + link;
    if (newEntry) location.hash = link;
    else history.replaceState(null, '', written);
  };
  page.linkText = (link) => location.href.split('#')[0] + '#' + link;
  // At popstate, before a frame can write the view that is being left over the entry that is come to.
  const arrive = () => {
    if (location.hash !== written) {
      written = location.hash;
      withText(written, (at) => Module._nl_apply_link(at));
    }
    wake(3);
  };
  addEventListener('popstate', arrive);
  addEventListener('hashchange', arrive);
  page.save = (text) => {
    try {
      localStorage.setItem('nanlens', text);
    } catch (error) {
      // Private windows keep nothing; the view works all the same.
    }
  };

  // ---- characters that the built-in fonts lack, drawn by the browser
  const glyphCanvas = document.createElement('canvas');
  glyphCanvas.width = glyphCanvas.height = 8;
  const glyphs = glyphCanvas.getContext('2d', { willReadFrequently: true });
  // The same Chinese character has other shapes in each of these languages. Fonts that a system lacks are passed over.
  const fontsOf = {
    ja: '"Hiragino Sans","Yu Gothic UI",Meiryo,"Noto Sans CJK JP","Noto Sans JP",',
    ko: '"Apple SD Gothic Neo","Malgun Gothic","Noto Sans CJK KR","Noto Sans KR",',
    'zh-TW': '"PingFang TC","Microsoft JhengHei","Noto Sans CJK TC","Noto Sans TC",',
  };
  page.glyph = (code, size, at, capacity) => {
    const font = Math.round(size) + 'px ' + (fontsOf[document.documentElement.lang] || '') + 'sans-serif';
    glyphs.font = font;
    const text = String.fromCodePoint(code);
    const measure = glyphs.measureText(text);
    const width = Math.ceil(measure.width) + 2;
    const height = Math.ceil(size * 1.4);
    if (width * height > capacity || width < 3) return 0;
    glyphCanvas.width = Math.max(glyphCanvas.width, width);
    glyphCanvas.height = Math.max(glyphCanvas.height, height);
    glyphs.font = font;
    glyphs.fillStyle = '#fff';
    glyphs.textBaseline = 'alphabetic';
    glyphs.clearRect(0, 0, width, height);
    glyphs.fillText(text, 1, Math.round(size * 1.05));
    const pixels = glyphs.getImageData(0, 0, width, height).data;
    const heap = HEAPU8;
    for (let i = 0; i < width * height; ++i) heap[at + i] = pixels[4 * i + 3];
    return width;
  };
  page.announce = (text) => {
    if (element('live').textContent !== text) element('live').textContent = text;
  };

  // ---- what is on the canvas as real tables, for screen readers: Ctrl+Alt+A turns them on and off
  let mirroring = false;
  let mirrored = 0;
  let mirrorDue = 0; // timer of what changed too soon after the last time
  const table = (title, head, rows) => {
    const out = document.createElement('table');
    out.createCaption().textContent = title;
    const line = out.createTHead().insertRow();
    for (const text of head) line.appendChild(Object.assign(document.createElement('th'), { textContent: text, scope: 'col' }));
    const body = out.createTBody();
    for (const cells of rows.slice(0, 30)) {
      const row = body.insertRow();
      for (const text of cells) row.insertCell().textContent = text;
    }
    return out;
  };
  const mirror = () => {
    clearTimeout(mirrorDue);
    const wait = mirrored + 250 - performance.now();
    if (!mirroring) return;
    if (wait > 0) {
      mirrorDue = setTimeout(mirror, wait);
      return;
    }
    mirrored = performance.now();
    const s = nanlens.state();
    const health = (r) => r.badges.map((b) => b.kind + ' ' + b.value).join(', ');
    element('mirror').replaceChildren(
      table('Alerts, ' + s.alerts.total + ' in all', ['number', 'tensor', 'type'], s.alerts.visible.map((a) => [a.index, (a.op_name || a.op_type) + ':' + a.output_slot, a.op_type])),
      table('Graph executions, ' + s.graph_executions.shown + ' of ' + s.graph_executions.total, ['row', 'tensor', 'type', 'health', 'role'],
        s.graph_executions.visible.map((r) => [r.index, r.tensor, r.op_type, health(r), r.roles.join(', ')])));
  };
  addEventListener('keydown', (e) => {
    if (!e.ctrlKey || !e.altKey || e.code !== 'KeyA') return;
    mirroring = !mirroring;
    if (mirroring) mirror();
    else element('mirror').replaceChildren();
    e.preventDefault();
  }, true);

  // ---- for tests and scripts
  const command = (name, args) => {
    const answer = withText(String(name), (a) => withText(JSON.stringify(args || {}), (b) => textAt(Module._nl_command(a, b))));
    wake(3);
    return JSON.parse(answer);
  };
  let started;
  window.nanlens = {
    ready: new Promise((done) => {
      started = done;
    }),
    open: openFiles,
    command,
    idle,
    state: () => JSON.parse(textAt(Module._nl_state())),
    rects: () => JSON.parse(textAt(Module._nl_rects())),
  };

  // ---- the program: compressed in this file, unpacked and compiled once, for the page and its workers
  const unpack = async () => {
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to unpack it');
    keepPage();
    const compressed = bytesOf('program');
    element('program').remove();
    const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  };

  window.nlPage = page;
  window.Module = {
    canvas,
    instantiateWasm(imports, done) {
      unpack()
        .then((program) => {
          page.program = program;
          return WebAssembly.instantiate(program, imports);
        })
        .then((instance) => done(instance, page.program))
        .catch((error) => fail('nanlens can\'t start: ' + error.message + '. Try a current Firefox or Chromium, or the desktop viewer.'));
      return {};
    },
    print: (text) => console.log(text),
    printErr: (text) => console.warn(text),
    onAbort: (why) => fail('nanlens stopped: ' + why),
  };
  page.start = () => {
    ready = true;
    startWorker();
    listenToUser({ canvas, keyboard, wake, withText, textAt });
    let settings = '';
    try {
      settings = localStorage.getItem('nanlens') || '';
    } catch (error) {
      // As above.
    }
    if (settings) withText(settings, (at) => Module._nl_apply_settings(at));
    const view = location.hash || element('run').dataset.view;
    if (view) withText(view, (at) => Module._nl_apply_link(at));
    const url = new URLSearchParams(location.search).get('url');
    if (url) opening(openUrl(url));
    else if (element('run').textContent) opening(Promise.resolve().then(openShared)); // what was open goes first
    wake(5);
    idle().then(started);
  };
})();
