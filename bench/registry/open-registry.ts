import { systemClock } from '@sallyport/std/clock';
import { contentHash, type ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';
import { createRegistry, RETENTION, type Registry } from '../../packages/sallyport/src/registry/registry.ts';
import type { ToolStore } from '../../packages/sallyport/src/registry/tool-store.port.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { createSchemaValidator } from '../../packages/sallyport/src/validation/schema-validator.ts';
import { memoryToolStore } from '../../packages/sallyport/test/stores/memory-tool-store.ts';
import { toolOf } from './tools.ts';

/** Tenant of every measured tool. */
export const TENANT = 'bench';

/** The registry as the layer has it: schemas are judged, configurations are not. */
export function openRegistry(store: ToolStore): Registry {
  const schemas = createSchemaValidator();
  return createRegistry({
    store,
    clock: systemClock,
    log: silentLog,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: () => [],
  });
}

/** A registry of so many tools, which nothing but itself holds in memory. */
export async function filledRegistry(count: number): Promise<Registry> {
  let isRead = false;
  const later = memoryToolStore();
  const store: ToolStore = {
    ...later,
    async changedSince(revision) {
      if (isRead) return later.changedSince(revision);
      isRead = true;
      return { versions: Array.from({ length: count }, (_, at) => versionOf(at)), revision: 0 };
    },
  };
  const registry = openRegistry(store);
  await registry.load();
  return registry;
}

/** As it comes from a database: parsed from text, sharing nothing with others. */
function versionOf(at: number): ToolVersion {
  const manifest = JSON.parse(JSON.stringify(toolOf(at))) as ToolVersion['manifest'];
  return {
    tenantId: TENANT,
    manifest,
    contentHash: contentHash(manifest),
    state: 'active',
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
}
