import { chooseDriver, type SandboxDriver } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { createWasmDriver } from '@sallyport/sandbox/wasm';
import type { ModuleParts } from './module-executor.ts';

/** Real drivers whose sandboxes are counted. */
export interface TestDrivers {
  readonly parts: ModuleParts;
  /** Number of running sandboxes. */
  running(): number;
  /** Resolves when the next sandbox has started. */
  nextStart(): Promise<void>;
  close(): Promise<void>;
}

export function openDrivers(): TestDrivers {
  const interpreter = createWasmDriver();
  let count = 0;
  let waiting: (() => void)[] = [];
  const counted = (driver: SandboxDriver): SandboxDriver => ({
    ...driver,
    async start(spec) {
      const sandbox = await driver.start(spec);
      count += 1;
      void sandbox.exited.then(() => {
        count -= 1;
      });
      for (const notify of waiting) notify();
      waiting = [];
      return sandbox;
    },
  });
  return {
    parts: {
      interpreter: counted(interpreter),
      processes: counted(chooseDriver([createBubblewrapDriver()])),
      checkSource: interpreter.checkSource,
      atLeast: 'interpreter',
    },
    running: () => count,
    nextStart: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => interpreter[Symbol.asyncDispose](),
  };
}
