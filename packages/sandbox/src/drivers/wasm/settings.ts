import { availableParallelism } from 'node:os';
import { KiB, MiB } from '@sallyport/std/bytes';

/** What an operator may set. */
export interface WasmSettings {
  /** Scripts that run at the same time, each in a thread of its own; more wait for their turn. */
  readonly workersMax: number;
  /** Threads that stand ready while nothing runs. */
  readonly warmWorkers: number;
}

export const WASM_DEFAULTS: WasmSettings = {
  workersMax: Math.max(4, 2 * availableParallelism()),
  warmWorkers: 1,
};

/** Fixed bounds of the driver. */
export const WASM_BOUNDS = {
  /** Scripts that wait for a thread; the next is refused. */
  waitingMax: 1024,
  /** A thread beyond the warm ones ends after so long without work. */
  idleMs: 10_000,
  /** What the interpreter needs before it runs anything: its own tables and stack are part of its memory. */
  memoryMbMin: 16,
  /** 32 bits of address, less than the interpreter was built for. */
  memoryMbMax: 2048,
  /** Stack of a script inside the interpreter. With it the thread's own stack, below, is never the first to be full. */
  scriptStackBytes: 256 * KiB,
  threadStackMb: 16,
  /** Heap of a thread outside the interpreter: its own code and the pieces of text that pass through. */
  threadHeapMb: 64,
  /** Memory that scripts of one thread may have taken, beyond what each begins with, before it is replaced: its end gives it back. */
  takenBytesMax: 256 * MiB,
  /** Output that nobody has read yet; a script that wrote so much waits, as for a full pipe. */
  unreadBytesMax: 256 * KiB,
  /** Text that is gathered before it is passed on. */
  gatheredMax: 16 * KiB,
  /** Input is given to the script in pieces of so many bytes. */
  inputPieceBytes: 64 * KiB,
  /** Characters of all modules together that a script defines, and of the name of one. */
  definedMax: 2 * MiB,
  moduleNameMax: KiB,
  /** Longest text that leaves the interpreter at once: it lies in the heap of the thread, outside the script's memory. */
  textBytesMax: 16 * MiB,
  /** Jobs of promises between two looks at the limits. */
  jobsAtOnce: 1000,
  /** Period of the processor share. Within it a script may run at full speed. */
  sharePeriodMs: 100,
  /** How much later than the interpreter itself the layer ends a script that spends its processor time in one long step. */
  cpuGraceMs: 200,
  /** How long registration waits for the syntax of one source. */
  checkMs: 5000,
  environmentNamesMax: 512,
} as const;
