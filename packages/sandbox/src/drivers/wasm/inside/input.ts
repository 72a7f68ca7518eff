import { receiveMessageOnPort } from 'node:worker_threads';
import type { InputMessage, JobMessage, WasmJob } from '../protocol.ts';
import { SHARED } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';

/**
 * Input of a script. Each call blocks until the next piece of text; null at the end.
 * @param beforeWait called before the thread blocks
 */
export function createInput({ port, shared }: WasmJob, beforeWait: () => void): () => string | null {
  const numbers = new Int32Array(shared);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let piece: Uint8Array = new Uint8Array();
  let ended = false;
  const next = (): InputMessage => {
    for (;;) {
      const seen = Atomics.load(numbers, SHARED.inputs);
      const received = receiveMessageOnPort(port) as { readonly message: InputMessage } | undefined;
      if (received !== undefined) return received.message;
      beforeWait();
      Atomics.wait(numbers, SHARED.inputs, seen);
    }
  };
  const more = (): string => {
    if (piece.length === 0) {
      const message = next();
      ended = message === null;
      if (message === null) return decoder.decode();
      port.postMessage({ kind: 'took' } satisfies JobMessage);
      piece = message;
    }
    const part = piece.subarray(0, WASM_BOUNDS.inputPieceBytes);
    piece = piece.subarray(part.length);
    return decoder.decode(part, { stream: true });
  };
  return () => {
    while (!ended) {
      const text = more();
      if (text !== '') return text;
    }
    return null;
  };
}
