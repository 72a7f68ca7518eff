import { systemClock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import { collectGarbage } from '@sallyport/std/held-bytes';
import type { ToolManifest } from '../../packages/sallyport/api/schemas/tool-manifest.ts';
import { createCompositeExecutor } from '../../packages/sallyport/src/executors/composite.ts';
import { openHttpExecutor } from '../../packages/sallyport/src/executors/http/http-server.fixture.ts';
import { createRegistry, RETENTION } from '../../packages/sallyport/src/registry/registry.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { createSchemaValidator } from '../../packages/sallyport/src/validation/schema-validator.ts';
import { memoryToolStore } from '../../packages/sallyport/test/stores/memory-tool-store.ts';

/** What one registration of everything took. */
export interface RegistryMeasured {
  readonly ms: number;
  /** The same manifests once more. */
  readonly againMs: number;
  /** Manifests that the registry refused. */
  readonly refused: number;
  /** Growth of the heap, storage in memory included, in bytes. */
  readonly bytes: number;
}

/** Registers all manifests of the documents into an empty registry with storage in memory. */
export async function measureRegistry(documents: readonly (readonly ToolManifest[])[]): Promise<RegistryMeasured> {
  using http = openHttpExecutor();
  const executors = createCompositeExecutor([http]);
  const schemas = createSchemaValidator();
  const registry = createRegistry({
    store: memoryToolStore(),
    clock: systemClock,
    log: silentLog,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (manifest) => executors.configFaults(manifest),
  });
  let refused = 0;
  const registerAll = async (): Promise<number> => {
    const start = performance.now();
    for (const manifests of documents) {
      const ends = await registry.registerAll('bench', manifests);
      refused += ends.filter(isFailure).length;
    }
    return performance.now() - start;
  };
  const before = heapAfterCollection();
  const ms = await registerAll();
  const bytes = heapAfterCollection() - before;
  const counted = refused;
  return { ms, againMs: await registerAll(), refused: counted, bytes };
}

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
