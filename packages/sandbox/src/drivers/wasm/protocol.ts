import type { MessagePort } from 'node:worker_threads';

/** Numbers that the layer and the thread of a script share, by index of an Int32Array. */
export const SHARED = {
  /** Bytes of output that were sent and that nobody has read. */
  unread: 0,
  /** How many pieces of input were sent, the end included. */
  inputs: 1,
  /** Size of the script's memory, in pages of 64 KiB. */
  pages: 2,
  /** Set when the answer to a check is there. */
  checked: 3,
  length: 4,
} as const;

export const PAGE_BYTES = 65_536;

/** One script to be run. */
export interface WasmJob {
  readonly kind: 'job';
  readonly source: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  readonly cpuMillicores: number;
  readonly cpuMsMax: number;
  readonly shared: SharedArrayBuffer;
  /** Output and the end go out here, input comes in; belongs to this job alone. */
  readonly port: MessagePort;
}

/** A source whose syntax shall be looked at. */
export interface WasmCheck {
  readonly kind: 'check';
  readonly source: string;
  readonly format: 'module' | 'script';
  readonly shared: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** What is wrong with a source. */
export interface SyntaxFault {
  readonly message: string;
  /** 1 for the first. */
  readonly line?: number;
}

/** How a script ended by itself or at a limit. */
export interface JobEnd {
  readonly code?: number;
  readonly signal?: string;
  readonly violation?: 'memory' | 'cpu';
  readonly cpuMs: number;
  /** Whether the interpreter was left in the middle of something; its thread is not used again. */
  readonly broken: boolean;
  /** Memory that the thread lent to it. */
  readonly takenBytes: number;
}

/** From the thread, over the port of a job. */
export type JobMessage =
  | { readonly kind: 'output'; readonly stream: 1 | 2; readonly bytes: Uint8Array }
  | { readonly kind: 'took' }
  | { readonly kind: 'end'; readonly end: JobEnd };

/** From the layer, over the port of a job: a piece of input, or its end. */
export type InputMessage = Uint8Array | null;

/** From the thread itself, once, when it has begun: its path in /proc, empty where there is none. */
export interface ThreadMessage {
  readonly thread: string;
}
