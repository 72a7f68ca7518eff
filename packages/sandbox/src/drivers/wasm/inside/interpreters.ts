import type { WasmModule } from '../web-assembly.ts';
import { createInterpreter, type Interpreter, takenBytes } from './interpreter.ts';

/** The interpreters of one thread: one that runs, and one that stands ready while nothing runs. */
export interface Interpreters {
  /** One in which nothing ran before. */
  take(memoryMb: number): Promise<Interpreter>;
  /** Says that a script has ended in it; it is never used again. */
  discard(interpreter: Interpreter): void;
}

/**
 * Makes the keeper. A memory that did not grow is emptied, every byte of it, and the next interpreter is made in it: a
 * memory of its own for each would cost V8 a whole collection of garbage after each few scripts, some ten times what all
 * else of a short script costs.
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
      // Whoever takes it hears of it.
      ready.interpreter.catch(() => {});
    },
  };
}
