import type { SandboxDriver } from '@sallyport/sandbox';
import type { Log } from '../../telemetry/log.ts';

/**
 * Logs once what the operator should know of this machine's sandboxes. Checks every driver, and leaves no process
 * running.
 */
export async function warnOfSandboxes(drivers: readonly SandboxDriver[], log: Log): Promise<void> {
  await Promise.all(
    drivers.map(async (driver) => {
      const { works, weakerLimits: limits = [], holes = [] } = await driver.probe();
      if (!works) return;
      if (limits.length > 0) log.warn('sandbox-limits-weaker', { driver: driver.name, limits });
      for (const { text, isReached } of holes) {
        if (isReached) log.warn('sandbox-has-known-hole', { driver: driver.name, hole: text });
      }
    }),
  );
}
