import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { configFaults } from '../../../executors/http/config-faults.ts';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import type { HttpOperation } from '../../http-operation.ts';
import { checkManifest } from '../../manifests/check-manifest.ts';
import { importOpenApi } from './openapi-importer.ts';

const CORPUS = new URL('../../../../../../../shared/corpora/openapi/specs/', import.meta.url);
/** The corpus has seven thousand schemas. */
const TEST_MS = 180_000;
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

test.skipIf(!existsSync(CORPUS))(
  'REG-02.3 REG-02.4 every operation of the collected public documents is imported, and each schema compiles',
  { timeout: TEST_MS },
  async () => {
    const schemas = createSchemaValidator();
    const checks = { compileSchema: schemas.inspect, configFaults };
    const refused: string[] = [];
    const notCallable: string[] = [];
    let operations = 0;
    for (const file of readdirSync(CORPUS)) {
      const text = readFileSync(new URL(file, CORPUS), 'utf8');
      const imported = await importOpenApi(text, { baseUrl: 'https://api.example.com' });
      expect(
        imported.skipped.filter(({ place }) => !place.startsWith('webhook ')),
        file,
      ).toEqual([]);
      expect(imported.manifests.length, file).toBe(countOperations(text));
      operations += imported.manifests.length;
      for (const manifest of imported.manifests) {
        const checked = checkManifest(manifest, checks);
        if (isFailure(checked)) refused.push(`${file}: ${checked.message}`);
        const { not_callable } = (manifest.executor.config ?? {}) as Partial<HttpOperation>;
        if (not_callable !== undefined) notCallable.push(not_callable);
      }
    }
    expect(refused).toEqual([]);
    expect(operations).toBeGreaterThanOrEqual(3512);
    expect(notCallable).toHaveLength(7);
    for (const reason of notCallable) expect(reason).toMatch(/^TRACE |^it needs (?:mutualTLS|the HTTP scheme mutual)/);
  },
);

function countOperations(text: string): number {
  const { paths = {} } = JSON.parse(text) as { paths?: Record<string, Record<string, unknown>> };
  return Object.values(paths).reduce(
    (sum, item) => sum + Object.keys(item).filter((key) => METHODS.has(key)).length,
    0,
  );
}
