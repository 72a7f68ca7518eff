import type { WasmModule } from '../web-assembly.ts';
import { createInterpreter, type Interpreter, takenBytes } from './interpreter.ts';

/** The interpreters of one thread: one that runs, and one made in advance while nothing runs. */
export interface Interpreters {
  /** A fresh interpreter. */
  take(memoryMb: number): Promise<Interpreter>;
  /** Reports the end of a script; its interpreter is never reused. */
  discard(interpreter: Interpreter): void;
}

/**
 * Makes the keeper. A memory that did not grow is zeroed completely, and the next interpreter is made in it: a new
 * memory for each would cost V8 a full garbage collection every few scripts, some ten times everything else of a short
 * script.
 */
export function createInterpreters(wasmModule: WasmModule): Interpreters {
  let ready: { readonly memoryMb: number; readonly interpreter: Promise<Interpreter> } | undefined;
  return {
    take(memoryMb) {
      const { interpreter } = ready?.memoryMb === memoryMb ? ready : {};
      ready = undefined;
      return interpreter ?? createInterpreter(wasmModule, memoryMb);
    },
    discard(interpreter) {
      if (takenBytes(interpreter) > 0) return;
      const { memory, memoryMb } = interpreter;
      new Uint8Array(memory.buffer).fill(0);
      ready = { memoryMb, interpreter: createInterpreter(wasmModule, memoryMb, memory) };
      // The next caller gets the error.
      ready.interpreter.catch(() => {});
    },
  };
}
