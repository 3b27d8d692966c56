'use strict';

const modifiersOf = (e) => (e.ctrlKey ? 1 : 0) | (e.shiftKey ? 2 : 0) | (e.altKey ? 4 : 0) | (e.metaKey ? 8 : 0);

// Fingers beyond a tap: a long press is the right button, two fingers pan and zoom. Its functions return true for events
// that are dealt with, so that they are no mouse events any more.
const trackFingers = (wake) => {
  const held = new Map();
  const longPress = 500; // milliseconds
  const still = 10; // pixels that a finger may tremble
  let gesture = false; // until every finger is lifted
  let timer = 0;
  const letGo = () => {
    clearTimeout(timer);
    gesture = true;
    // Lifted where nothing is: the press so far was no click.
    Module._nl_mouse(-1e9, -1e9);
    Module._nl_button(0, 0, 0);
  };
  const press = (x, y) => {
    letGo();
    Module._nl_mouse(x, y);
    Module._nl_button(2, 1, 0);
    Module._nl_button(2, 0, 0);
    wake(6);
  };
  const center = () => {
    const [a, b] = held.values();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  };
  const down = (e) => {
    if (e.pointerType !== 'touch') return false;
    held.set(e.pointerId, { x: e.clientX, y: e.clientY, startX: e.clientX, startY: e.clientY });
    if (held.size === 1) {
      gesture = false;
      timer = setTimeout(() => press(e.clientX, e.clientY), longPress);
      return false;
    }
    letGo();
    wake(3);
    return true;
  };
  const moved = (e) => {
    const finger = held.get(e.pointerId);
    if (!finger) return false;
    const before = held.size === 2 ? center() : null;
    finger.x = e.clientX;
    finger.y = e.clientY;
    if (Math.hypot(finger.x - finger.startX, finger.y - finger.startY) > still) clearTimeout(timer);
    if (before) {
      const now = center();
      Module._nl_mouse(now.x, now.y);
      Module._nl_wheel((now.x - before.x) / 40, (now.y - before.y) / 40, 0);
      const zoom = Math.log(now.apart / before.apart) / Math.log(1.25);
      if (zoom !== 0) Module._nl_wheel(0, zoom, 1);
      wake(3);
    }
    return gesture;
  };
  const up = (e) => {
    if (!held.delete(e.pointerId)) return false;
    clearTimeout(timer);
    if (gesture) Module._nl_wheel(0, 0, 0); // the zoom's Ctrl key, too, is let go
    return gesture;
  };
  return { down, moved, up };
};

// Mouse, touch, wheel, keyboard, clipboard and what the system wishes, as ImGui's input events.
const listenToUser = ({ canvas, keyboard, wake, withText, textAt }) => {
  keyboard.focus({ preventScroll: true });
  const move = (e) => {
    Module._nl_mouse(e.clientX, e.clientY);
    wake(2);
  };
  const fingers = trackFingers(wake);
  addEventListener('pointermove', (e) => {
    if (fingers.moved(e)) return;
    move(e);
  }, { passive: true });
  canvas.addEventListener('pointerdown', (e) => {
    keyboard.focus({ preventScroll: true });
    canvas.setPointerCapture(e.pointerId);
    e.preventDefault();
    if (fingers.down(e)) return;
    Module._nl_mouse(e.clientX, e.clientY);
    Module._nl_button(e.button, 1, modifiersOf(e));
    wake(3);
  });
  // What fingers need is larger: it grows only when the tap has been drawn, or the finger would be lifted beside it.
  const afterFrames = (frames, then) => requestAnimationFrame(() => (frames > 1 ? afterFrames(frames - 1, then) : then()));
  const up = (e) => {
    afterFrames(5, () => {
      Module._nl_touch(e.pointerType === 'touch' ? 1 : 0);
      wake(2);
    });
    if (fingers.up(e)) return;
    Module._nl_mouse(e.clientX, e.clientY);
    Module._nl_button(e.button, 0, modifiersOf(e));
    wake(3);
  };
  addEventListener('pointerup', up);
  addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => {
    Module._nl_mouse(-1e9, -1e9);
    wake(2);
  });
  canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  canvas.addEventListener('wheel', (e) => {
    const unit = e.deltaMode === 1 ? 1 / 3 : e.deltaMode === 2 ? 3 : 1 / 100;
    Module._nl_wheel(-e.deltaX * unit, -e.deltaY * unit, modifiersOf(e));
    e.preventDefault();
    wake(3);
  }, { passive: false });
  const key = (e, down) => {
    withText(e.code || e.key, (at) => Module._nl_key(at, down, modifiersOf(e)));
    wake(3);
  };
  const ours = /^(Tab|Enter|Backspace|Escape|F3|Arrow.*|Page.*|Home|End|Slash|Quote|Space)$/;
  keyboard.addEventListener('keydown', (e) => {
    if (e.isComposing || e.keyCode === 229) return;
    const control = e.ctrlKey || e.metaKey;
    if (control && e.code === 'KeyV') return; // comes as 'paste'
    if (e.code === 'Tab' && !Module._nl_takes_tab(e.shiftKey ? 1 : 0)) return; // out of the page
    key(e, 1);
    if (control && /^Key[CX]$/.test(e.code)) {
      // What is to be copied must be known when 'copy' fires, right after this.
      Module._nl_frame(performance.now() / 1000);
      Module._nl_frame(performance.now() / 1000);
      if (e.shiftKey) e.preventDefault();
      return;
    }
    // Characters without a text field are commands: they must not scroll or search the page, but still arrive as text.
    if (control ? /^Key[APFOZY]$/.test(e.code) : ours.test(e.code) && !(e.key.length === 1)) e.preventDefault();
    if (!control && e.key.length === 1 && !e.altKey) {
      e.preventDefault();
      withText(e.key, (at) => Module._nl_text(at));
    }
  });
  keyboard.addEventListener('keyup', (e) => key(e, 0));
  keyboard.addEventListener('input', (e) => {
    if (e.isComposing) return;
    if (keyboard.value) withText(keyboard.value, (at) => Module._nl_text(at));
    keyboard.value = '';
    wake(3);
  });
  keyboard.addEventListener('compositionend', (e) => {
    if (e.data) withText(e.data, (at) => Module._nl_text(at));
    keyboard.value = '';
    wake(3);
  });
  for (const kind of ['copy', 'cut']) {
    document.addEventListener(kind, (e) => {
      e.clipboardData.setData('text/plain', textAt(Module._nl_clipboard()));
      e.preventDefault();
    });
  }
  document.addEventListener('paste', (e) => {
    const text = e.clipboardData.getData('text/plain');
    if (text) withText(text, (at) => Module._nl_paste(at));
    e.preventDefault();
    wake(6);
  });
  addEventListener('pagehide', () => Module._nl_leave());
  addEventListener('blur', () => Module._nl_focus(0));
  addEventListener('focus', () => {
    Module._nl_focus(1);
    keyboard.focus({ preventScroll: true });
    wake(3);
  });
  new ResizeObserver(() => wake(3)).observe(canvas);
  const watchScale = () => matchMedia('(resolution:' + devicePixelRatio + 'dppx)').addEventListener('change', () => {
    wake(3);
    watchScale();
  }, { once: true });
  watchScale();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const contrast = matchMedia('(prefers-contrast: more)');
  const theme = () => {
    Module._nl_system_theme(dark.matches ? 1 : 0, contrast.matches ? 1 : 0);
    wake(2);
  };
  dark.addEventListener('change', theme);
  contrast.addEventListener('change', theme);
  theme();
  const languages = () => {
    withText(navigator.languages.join(','), (at) => Module._nl_system_languages(at));
    wake(2);
  };
  addEventListener('languagechange', languages);
  languages();
  canvas.addEventListener('webglcontextlost', (e) => e.preventDefault());
  canvas.addEventListener('webglcontextrestored', () => {
    Module._nl_context_restored();
    wake(3);
  });
  document.addEventListener('visibilitychange', () => wake(3));
};
