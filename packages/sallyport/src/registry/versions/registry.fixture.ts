import type { Clock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import type { Fault } from '../../../api/schemas/error.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { createRegistry, RETENTION, type Registry, type RegistryParts } from '../registry.ts';
import type { ToolStore } from '../tool-store.port.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

/** A clock that shows noon of 1 January 2026 until a test moves it. */
export interface MovedClock extends Clock {
  /** Ms since noon. */
  past: number;
}

export function clockAtNoon(): MovedClock {
  const clock: MovedClock = { past: 0, now: () => NOON + clock.past, monotonic: () => clock.past };
  return clock;
}

/** Parts of a registry that a test may replace. */
export interface RegistryChanges {
  readonly retention?: Partial<RegistryParts['retention']>;
  readonly log?: Log;
  readonly clock?: Clock;
}

/** A registry with a clock at noon; a schema with the minimum "bad" and a configuration with `broken` are refused. */
export function registryOver(
  store: ToolStore,
  { log = silentLog, clock = clockAtNoon(), retention }: RegistryChanges = {},
): Registry {
  return createRegistry({
    store,
    log,
    clock,
    retention: { ...RETENTION, ...retention },
    timeoutSecondsMax: 300,
    compileSchema: (schema) => (schema['minimum'] === 'bad' ? [fault('/minimum')] : []),
    configFaults: ({ executor }) => (executor.config?.['broken'] === true ? [fault('/executor/config/broken')] : []),
  });
}

const fault = (path: string): Fault => ({ path, code: 'E3008', keyword: 'test', message: 'is wrong' });

/** A valid manifest of the tool `weather`. */
export const manifest = (version: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  tool_id: 'weather',
  tool_name: 'Weather',
  version,
  description: 'Says how the weather is.',
  parameters_schema: { type: 'object' },
  executor: { kind: 'native' },
  ...more,
});

/** Registers these versions of `weather` for the tenant acme. */
export async function withVersions(registry: Registry, ...versions: string[]): Promise<Registry> {
  for (const version of versions) await registry.register('acme', manifest(version));
  return registry;
}

/** The version that a range chooses, or the code of the refusal. */
export function chosen(registry: Registry, range?: string): string {
  const found = registry.find('acme', 'weather', range);
  return isFailure(found) ? found.code : found.tool.manifest.version;
}
