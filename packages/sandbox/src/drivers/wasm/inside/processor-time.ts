import type { WasmJob } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';

/** Processor time of one script. */
export interface ProcessorTime {
  usedMs(): number;
  /** True when all is spent. Blocks for a moment when the script ran faster than its share allows. */
  isSpent(): boolean;
}

const MICROSECONDS = 1000;

/** Begins to count in this thread. */
export function countProcessorTime({ cpuMillicores, cpuMsMax }: WasmJob): ProcessorTime {
  const began = process.threadCpuUsage();
  const beganAt = performance.now();
  const share = cpuMillicores / 1000;
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / MICROSECONDS;
  };
  return {
    usedMs,
    isSpent() {
      const used = usedMs();
      if (used >= cpuMsMax) return true;
      if (share >= 1) return false;
      const allowed = (performance.now() - beganAt + WASM_BOUNDS.sharePeriodMs) * share;
      if (used > allowed) Atomics.wait(never, 0, 0, (used - allowed) / share);
      return false;
    },
  };
}
