import type { SandboxDriver } from '@sallyport/sandbox';
import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Health } from '../../../api/schemas/health.ts';
import { VERSION } from '../version.ts';

/** Tells how the layer is, and that it is about to stop. */
export interface HealthParts {
  report(): Promise<Health>;
  /** From now on the layer is not ready, until the function that is returned is called. */
  drain(): () => void;
}

/** What decides on health. */
export interface HealthSources {
  readonly clock: Clock;
  readonly driver: SandboxDriver;
  /** Writes something small and durable, as every call does; throws what went wrong. */
  readonly write: () => Promise<void>;
  /** Whether everything that says who asks can be had. */
  readonly identity: () => Part;
  readonly bounds?: Partial<WriteBounds>;
}

/** How writing is tried. */
export interface WriteBounds {
  /** A write that takes longer counts as failed, in ms. */
  readonly timeoutMs: number;
  /** For how long a result is reused, in ms: many probes cost one write. */
  readonly freshMs: number;
}

const WRITE_BOUNDS: WriteBounds = { timeoutMs: 2_000, freshMs: 1_000 };

/**
 * A write decides on readiness: no call is recorded where nothing can be written, and none is run. A missing sandbox costs
 * only the tools that need one.
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

/** One write at a time, for all who ask; one that hangs is not joined by a second. */
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
      // Nobody begins another look while this one lasts.
      freshUntil = Number.POSITIVE_INFINITY;
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
