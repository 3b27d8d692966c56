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

// Reads bytes of a file: a File object by slices, a URL by ranges.
self.nl.read = (index, offset, count) => {
  const file = self.nl.files[index];
  if (!file) throw new Error('there is no such file');
  if (file.blob) return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.blob.slice(offset, offset + count)));
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
