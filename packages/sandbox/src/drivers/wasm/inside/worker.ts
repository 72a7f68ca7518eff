// The thread in which scripts run, one after the other, each in an interpreter of its own.
import { readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type JobMessage, SHARED, type ThreadMessage, type WasmCheck, type WasmJob } from '../protocol.ts';
import type { WasmModule } from '../web-assembly.ts';
import { checkSource } from './check-source.ts';
import { createInterpreters } from './interpreters.ts';
import { countProcessorTime } from './processor-time.ts';
import { runJob } from './run-job.ts';
import { narrowThread } from './thread-world.ts';

const { wasmModule } = workerData as { readonly wasmModule: WasmModule };
const interpreters = createInterpreters(wasmModule);
const outside = parentPort;

narrowThread();
outside?.postMessage({ thread: threadPath() } satisfies ThreadMessage);
outside?.on('message', (order: WasmJob | WasmCheck) => void (order.kind === 'job' ? job(order) : check(order)));

async function job(order: WasmJob): Promise<void> {
  const time = countProcessorTime(order);
  const interpreter = await interpreters.take(order.memoryMb);
  const end = runJob(order, interpreter, time);
  order.port.postMessage({ kind: 'end', end } satisfies JobMessage);
  if (!end.broken) interpreters.discard(interpreter);
}

async function check(order: WasmCheck): Promise<void> {
  const fault = await checkSource(wasmModule, order).catch((error: unknown) => ({ message: String(error) }));
  order.port.postMessage(fault ?? null);
  const numbers = new Int32Array(order.shared);
  Atomics.store(numbers, SHARED.checked, 1);
  Atomics.notify(numbers, SHARED.checked);
}

/** Where the kernel shows the processor time of this thread to others; empty where there is no /proc. */
function threadPath(): string {
  try {
    return `/proc/${readlinkSync('/proc/thread-self')}`;
  } catch {
    return '';
  }
}
