import type { SandboxProcess } from './driver.port.ts';

/** A running sandbox that is killed when it is disposed. */
export function killOnDispose(running: Omit<SandboxProcess, typeof Symbol.asyncDispose>): SandboxProcess {
  return {
    ...running,
    async [Symbol.asyncDispose]() {
      running.kill();
      await running.exited;
    },
  };
}
