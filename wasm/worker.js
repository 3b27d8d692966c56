// Runs before the engine's own script in the worker: the same program as the page's, told not to start main().
'use strict';
self.nl = { files: [] };
self.Module = {
  noInitialRun: true,
  // The page has compiled the program already and sends it.
  instantiateWasm(imports, done) {
    self.nl.start = (program) => WebAssembly.instantiate(program, imports).then((instance) => done(instance, program));
    return {};
  },
  print: (text) => console.log(text),
  printErr: (text) => console.warn(text),
  onRuntimeInitialized() {
    Module._nl_engine_start();
    self.nl.ready = true;
    for (const message of self.nl.early.splice(0)) self.nl.take(message);
  },
};
self.nl.early = [];

// While the program works on one part of a file, a worker of its own reads the next ones (a promise would wait for this
// thread's idle time). Parts come between slices of work.
const partSize = 16 * 2 ** 20;
const scanSize = 2 ** 20; // who asks for this much reads on and on
const readParts = () => {
  onmessage = ({ data }) => {
    try {
      const bytes = new FileReaderSync().readAsArrayBuffer(data.part);
      postMessage({ ...data, part: null, bytes }, [bytes]);
    } catch (error) {
      // Whoever needs these bytes reads them again and gets the reason.
    }
  };
};
let reader = null;
const startReader = () => {
  const url = URL.createObjectURL(new Blob(['(' + readParts + ')()'], { type: 'text/javascript' }));
  reader = new Worker(url);
  URL.revokeObjectURL(url);
  reader.onmessage = ({ data }) => {
    const scan = scans.get(data.scan);
    if (!scan) return; // over since
    scan.asked -= 1;
    scan.parts.push({ start: data.from, bytes: new Uint8Array(data.bytes) });
  };
};
// A part takes some time to come: the first one begins beyond what is read meanwhile.
const scans = new Map(); // by number
let scanCount = 0;
const endScan = (file) => {
  if (file.scan) scans.delete(file.scan.number);
  file.scan = null;
};
const scanFor = (file, offset, end) => {
  if (file.scan && offset < file.scan.at) endScan(file);
  if (!file.scan) {
    file.scan = { number: ++scanCount, at: 0, parts: [], asked: 0, next: 0 };
    scans.set(file.scan.number, file.scan);
  }
  const scan = file.scan;
  const lead = 12 * 2 ** 20;
  const most = 3; // parts, there or on their way
  scan.at = offset;
  scan.parts = scan.parts.filter((part) => part.start + part.bytes.length > offset);
  if (scan.next < end) scan.next = end + lead;
  for (; scan.parts.length + scan.asked < most && scan.next < file.blob.size; scan.next += partSize) {
    if (!reader) startReader();
    scan.asked += 1;
    reader.postMessage({ scan: scan.number, from: scan.next, part: file.blob.slice(scan.next, scan.next + partSize) });
  }
  return scan;
};
const readBlob = (file, offset, count) => {
  const now = (from, size) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.blob.slice(from, from + size)));
  if (count < scanSize) return now(offset, count);
  const part = scanFor(file, offset, offset + count).parts.find((p) => p.start <= offset);
  if (offset + count >= file.blob.size) endScan(file);
  if (!part) return now(offset, count);
  const inside = part.bytes.subarray(offset - part.start, offset - part.start + count);
  if (inside.length === count || part.start + part.bytes.length >= file.blob.size) return inside;
  const whole = new Uint8Array(count);
  whole.set(inside);
  const rest = readBlob(file, offset + inside.length, count - inside.length);
  whole.set(rest, inside.length);
  return whole.subarray(0, inside.length + rest.length);
};

// Reads bytes of a file: a File object by slices, a URL by ranges.
self.nl.read = (index, offset, count) => {
  const file = self.nl.files[index];
  if (!file) throw new Error('there is no such file');
  if (file.fault) throw new Error(file.fault);
  if (file.blob) return readBlob(file, offset, count);
  if (!file.whole) {
    const request = new XMLHttpRequest();
    request.open('GET', file.url, false);
    request.responseType = 'arraybuffer';
    request.setRequestHeader('Range', 'bytes=' + offset + '-' + (offset + count - 1));
    request.send();
    if (request.status === 206) return new Uint8Array(request.response);
    if (request.status !== 200) throw new Error('the server answered ' + request.status);
    if (request.response.byteLength > 64 * 2 ** 20) throw new Error('the server gives no ranges, and the file is larger than 64 MB');
    file.whole = new Uint8Array(request.response);
  }
  return file.whole.subarray(offset, offset + count);
};

self.nl.take = (message) => {
  if (message.files) {
    // Files keep their place when a folder is looked at again: the engine has them open by number.
    for (const file of message.files) {
      const at = self.nl.files.findIndex((f) => f.name === file.name);
      if (at >= 0) endScan(self.nl.files[at]);
      if (at >= 0) self.nl.files[at] = file;
      else self.nl.files.push(file);
    }
  } else {
    const bytes = new Uint8Array(message.request);
    const at = Module._malloc(bytes.length);
    HEAPU8.set(bytes, at);
    Module._nl_engine_handle(at, bytes.length);
    Module._free(at);
  }
  self.nl.run();
};

// One slice of work after the other, with messages let in between.
const channel = new MessageChannel();
let running = false;
channel.port1.onmessage = () => {
  running = false;
  if (Module._nl_engine_step()) self.nl.run();
};
self.nl.run = () => {
  if (running) return;
  running = true;
  channel.port2.postMessage(0);
};
self.nl.reply = (at, size) => {
  const copy = HEAPU8.slice(at, at + size);
  self.postMessage({ reply: copy.buffer, heap: HEAPU8.length }, [copy.buffer]);
};
self.onmessage = (event) => {
  if (event.data.program) self.nl.start(event.data.program);
  else if (self.nl.ready) self.nl.take(event.data);
  else self.nl.early.push(event.data);
};
