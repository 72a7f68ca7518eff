import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isFailure } from '../../../domain/error/failure.ts';
import { configFaults } from '../../../executors/http/config-faults.ts';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import { checkManifest } from '../../manifests/check-manifest.ts';
import { importOpenApi } from './openapi-importer.ts';

const CORPUS = new URL('../../../../../shared/corpora/openapi/specs/', import.meta.url);
/** Seven thousand schemas are judged. */
const TEST_MS = 180_000;
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

test.skipIf(!existsSync(CORPUS))(
  'every operation of the collected public documents is imported or listed',
  { timeout: TEST_MS },
  async () => {
    const schemas = createSchemaValidator();
    const checks = { compileSchema: schemas.inspect, configFaults };
    const refused: string[] = [];
    const skipped: string[] = [];
    let operations = 0;
    for (const file of readdirSync(CORPUS)) {
      const text = readFileSync(new URL(file, CORPUS), 'utf8');
      const imported = await importOpenApi(text, { baseUrl: 'https://api.example.com' });
      const listed = imported.skipped.filter(({ place }) => !place.startsWith('webhook '));
      expect(imported.manifests.length + listed.length, file).toBe(countOperations(text));
      operations += imported.manifests.length;
      skipped.push(...listed.map(({ reason }) => reason));
      for (const manifest of imported.manifests) {
        const checked = checkManifest(manifest, checks);
        if (isFailure(checked)) refused.push(`${file}: ${checked.message}`);
      }
    }
    expect(refused).toEqual([]);
    expect(operations).toBeGreaterThan(3500);
    for (const reason of new Set(skipped))
      expect(reason).toMatch(/^TRACE |^it needs (?:mutualTLS|the HTTP scheme mutual)/);
  },
);

function countOperations(text: string): number {
  const { paths = {} } = JSON.parse(text) as { paths?: Record<string, Record<string, unknown>> };
  return Object.values(paths).reduce(
    (sum, item) => sum + Object.keys(item).filter((key) => METHODS.has(key)).length,
    0,
  );
}
