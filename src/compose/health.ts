import type { Health } from '../../api/schemas/health.ts';
import { failureOf } from '../domain/error/tool-layer-error.ts';
import type { SandboxDriver } from '../sandbox/driver.port.ts';
import type { Clock } from '../std/clock.ts';
import type { Storage } from './parts/open-storage.ts';
import { VERSION } from './version.ts';

/** Tells how the layer is, and that it is about to stop. */
export interface HealthParts {
  report(): Promise<Health>;
  /** From now on the layer is not ready. */
  drain(): void;
}

/** The database decides on readiness; a missing sandbox costs only the tools that need one. */
export function createHealth({
  clock,
  driver,
  storage,
  identity,
}: {
  readonly clock: Clock;
  readonly driver: SandboxDriver;
  readonly storage: Storage;
  /** Whether everything that says who asks can be had. */
  readonly identity: () => Part;
}): HealthParts {
  const startedAt = clock.monotonic();
  let draining = false;
  return {
    async report() {
      const [database, sandbox] = await Promise.all([databasePart(storage), sandboxPart(driver)]);
      const callers = identity();
      const ready = database.ok && !draining;
      return {
        status: draining ? 'draining' : !database.ok || !sandbox.ok || !callers.ok ? 'degraded' : 'ready',
        ready,
        version: VERSION,
        uptime_seconds: Math.round(clock.monotonic() - startedAt) / 1000,
        parts: { database, sandbox, identity: callers },
      };
    },
    drain() {
      draining = true;
    },
  };
}

type Part = Health['parts'][string];

async function databasePart({ database }: Storage): Promise<Part> {
  try {
    await database.ping();
    return { ok: true };
  } catch (thrown) {
    return { ok: false, message: failureOf(thrown).message };
  }
}

async function sandboxPart(driver: SandboxDriver): Promise<Part> {
  const { works, problem } = await driver.probe();
  return works ? { ok: true } : { ok: false, message: problem ?? `${driver.name} does not work here` };
}
