import type { SandboxDriver } from '@sallyport/sandbox';
import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Health } from '../../../api/schemas/health.ts';
import { VERSION } from '../version.ts';

/** Reports the health of the layer, and that it is about to stop. */
export interface HealthParts {
  report(): Promise<Health>;
  /** Makes the layer report that it is not ready, until the returned function is called. */
  drain(): () => void;
}

/** Sources of the health report. */
export interface HealthSources {
  readonly clock: Clock;
  readonly driver: SandboxDriver;
  /** Writes something small and durable, as every call does; throws when that fails. */
  readonly write: () => Promise<void>;
  /** Health of the identity parts: keys, revocations, API keys. */
  readonly identity: () => Part;
  readonly bounds?: Partial<WriteBounds>;
}

/** Limits of the test write. */
export interface WriteBounds {
  /** A write that takes longer counts as failed, in ms. */
  readonly timeoutMs: number;
  /** How long a result is reused, in ms: many probes cost one write. */
  readonly freshMs: number;
}

const WRITE_BOUNDS: WriteBounds = { timeoutMs: 2_000, freshMs: 1_000 };

/**
 * Readiness depends on a test write: no call runs when it cannot be recorded. A missing sandbox affects only the tools
 * that need one.
 */
export function createHealth({ clock, driver, write, identity, bounds }: HealthSources): HealthParts {
  const startedAt = clock.monotonic();
  const databasePart = createWriteProbe(write, clock, { ...WRITE_BOUNDS, ...bounds });
  let draining = 0;
  return {
    async report() {
      const [database, sandbox] = await Promise.all([databasePart(), sandboxPart(driver)]);
      const callers = identity();
      const reason = draining > 0 ? 'the layer is stopping' : database.message;
      return {
        status: draining > 0 ? 'draining' : !database.ok || !sandbox.ok || !callers.ok ? 'degraded' : 'ready',
        ready: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
        version: VERSION,
        uptime_seconds: Math.round(clock.monotonic() - startedAt) / 1000,
        parts: { database, sandbox, identity: callers },
      };
    },
    drain() {
      draining += 1;
      return () => {
        draining -= 1;
      };
    },
  };
}

type Part = Health['parts'][string];

/** Makes one write at a time for all callers; while one hangs no second is started. */
function createWriteProbe(write: () => Promise<void>, clock: Clock, bounds: WriteBounds): () => Promise<Part> {
  let running: Promise<Part> | undefined;
  let asked: Promise<Part> | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  const writeOnce = (): Promise<Part> =>
    write()
      .then(
        (): Part => ({ ok: true }),
        (thrown: unknown): Part => ({ ok: false, message: failureOf(thrown).message }),
      )
      .finally(() => {
        running = undefined;
      });
  const look = async (): Promise<Part> => {
    running ??= writeOnce();
    const part = await within(running, bounds.timeoutMs);
    freshUntil = clock.monotonic() + bounds.freshMs;
    return part;
  };
  return () => {
    if (asked === undefined || clock.monotonic() >= freshUntil) {
      asked = look();
    }
    return asked;
  };
}

async function within(write: Promise<Part>, ms: number): Promise<Part> {
  const { promise: late, resolve } = Promise.withResolvers<Part>();
  const message = `The database took longer than ${ms} ms for a small write.`;
  const timer = setTimeout(() => resolve({ ok: false, message }), ms);
  try {
    return await Promise.race([write, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function sandboxPart(driver: SandboxDriver): Promise<Part> {
  const { works, problem, weakerLimits } = await driver.probe();
  const weaker = weakerLimits === undefined ? {} : { weaker_limits: [...weakerLimits] };
  if (works) return { ok: true, ...weaker };
  return { ...weaker, ok: false, message: problem ?? `${driver.name} does not work here` };
}
