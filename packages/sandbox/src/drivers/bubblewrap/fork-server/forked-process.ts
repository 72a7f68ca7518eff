import { EventEmitter } from 'node:events';
import { constants } from 'node:os';

/** Interface of a launcher's process, whoever started it. */
export interface LauncherProcess {
  readonly pid: number;
  /** As for a Node child process: both null until it has ended. */
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  /** Keeps the layer alive for it. The default until `unref`. */
  ref(): void;
  unref(): void;
}

/** A process that the fork server started and waits for. */
export class ForkedProcess extends EventEmitter<{ exit: [number | null, NodeJS.Signals | null] }> {
  readonly pid: number;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #hold: (held: boolean) => void;
  #held = false;

  /** @param hold called whenever the layer starts or stops being kept alive for it */
  constructor(pid: number, hold: (held: boolean) => void) {
    super();
    this.pid = pid;
    this.#hold = hold;
    this.ref();
  }

  ref(): void {
    this.#keep(this.exitCode === null && this.signalCode === null);
  }

  unref(): void {
    this.#keep(false);
  }

  /** @param status as `waitpid` returns it (wait(2)); undefined when nobody waits for it any more */
  ended(status: number | undefined): void {
    const signal = status === undefined ? 'SIGKILL' : SIGNAL_NAMES.get(status & SIGNAL_BITS);
    this.signalCode = signal ?? null;
    this.exitCode = signal === undefined ? (status ?? 0) >> CODE_SHIFT : null;
    this.unref();
    this.emit('exit', this.exitCode, this.signalCode);
  }

  #keep(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#hold(held);
  }
}

const SIGNAL_BITS = 0x7f;
const CODE_SHIFT = 8;
const SIGNAL_NAMES: ReadonlyMap<number, NodeJS.Signals> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);
