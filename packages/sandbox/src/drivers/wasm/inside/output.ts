import type { JobMessage, WasmJob } from '../protocol.ts';
import { SHARED } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';

/** Output of a script, on its way to the layer. */
export interface Output {
  write(stream: 1 | 2, text: string): void;
  /** Sends the buffered text; blocks while too much is unread. */
  flush(): void;
  /** Sends everything, even a split character at the end. */
  finish(): void;
}

/** Makes the way of one job. */
export function createOutput({ port, shared }: WasmJob): Output {
  const numbers = new Int32Array(shared);
  const gathered = { 1: '', 2: '' };
  const send = (stream: 1 | 2, text: string): void => {
    if (text === '') return;
    waitForRoom(numbers);
    const bytes = new TextEncoder().encode(text);
    Atomics.add(numbers, SHARED.unread, bytes.length);
    port.postMessage({ kind: 'output', stream, bytes } satisfies JobMessage);
  };
  const flushOne = (stream: 1 | 2): void => {
    const text = gathered[stream];
    if (text === '') return;
    // The second half of a character may come with the next piece.
    const whole = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    gathered[stream] = text.slice(whole);
    send(stream, text.slice(0, whole));
  };
  const flush = (): void => {
    flushOne(1);
    flushOne(2);
  };
  return {
    write(stream, text) {
      gathered[stream] += text;
      // Flushes both: text for one stream must not wait until the other is read.
      if (gathered[stream].length >= WASM_BOUNDS.gatheredMax) flush();
    },
    flush,
    finish() {
      flush();
      send(1, gathered[1]);
      send(2, gathered[2]);
    },
  };
}

function waitForRoom(numbers: Int32Array): void {
  for (;;) {
    const unread = Atomics.load(numbers, SHARED.unread);
    if (unread < WASM_BOUNDS.unreadBytesMax) return;
    Atomics.wait(numbers, SHARED.unread, unread);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
