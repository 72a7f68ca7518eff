import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ThreadMessage, WasmCheck, WasmJob } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';
import type { WasmModule } from '../web-assembly.ts';

/** A thread that runs scripts, one at a time. */
export interface Thread {
  /** Memory that it has lent to scripts in total. */
  takenBytes: number;
  give(order: WasmJob | WasmCheck): void;
  /** Processor time of the thread since its start, ms; undefined where the kernel does not report it. */
  cpuMs(): number | undefined;
  /** Ends it whatever it is doing. Resolves when it is gone. Idempotent. */
  end(): Promise<void>;
}

/** Beside this file: as source, as compiled module, and (the bundle keeps places) from the bundle too. */
const FILE = new URL(import.meta.url.endsWith('.ts') ? '../inside/worker.ts' : '../inside/worker.js', import.meta.url);

const NANOSECONDS = 1_000_000;

/** Starts one; it takes orders at once. `gone` is called once, when it has ended by whatever cause. */
export function startThread(wasmModule: WasmModule, gone: (cause: Error | undefined) => void): Thread {
  const worker = new Worker(FILE, {
    name: 'script',
    workerData: { wasmModule },
    // Nothing of this process is for scripts: neither its environment nor its options and arguments.
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: WASM_BOUNDS.threadHeapMb, stackSizeMb: WASM_BOUNDS.threadStackMb },
  });
  worker.unref();
  worker.stdout.resume();
  worker.stderr.resume();
  let path = '';
  let cause: Error | undefined;
  worker.on('message', ({ thread }: ThreadMessage) => {
    path = thread;
  });
  worker.on('error', (error: unknown) => {
    cause = error instanceof Error ? error : new Error(String(error));
  });
  worker.on('exit', () => gone(cause));
  return {
    takenBytes: 0,
    give: (order) => worker.postMessage(order, [order.port]),
    cpuMs: () => (path === '' ? undefined : processorMs(path)),
    end: async () => void (await worker.terminate()),
  };
}

function processorMs(path: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(`${path}/schedstat`, 'utf8'), 10) / NANOSECONDS;
  } catch {
    return undefined;
  }
}
