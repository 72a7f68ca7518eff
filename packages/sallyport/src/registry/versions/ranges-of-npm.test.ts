import { existsSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { parse } from 'semver';
import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { manifest, registryOver } from './registry.fixture.ts';

/** Test cases of node-semver, if the test corpora are next to the project. */
const CORPUS = new URL('../../../../../../shared/corpora/semver/node_semver_fixtures.json', import.meta.url);

type Case = readonly [range: string, version: string, options?: unknown];

/** The cases without options whose versions a manifest may have. */
function cases(name: string): readonly Case[] {
  const fixtures = JSON.parse(readFileSync(CORPUS, 'utf8')) as Record<string, readonly Case[]>;
  return (fixtures[name] ?? []).filter(
    ([, version, options]) => options === undefined && parse(version)?.raw === version,
  );
}

async function choice(range: string, version: string): Promise<string> {
  const registry = registryOver(memoryToolStore());
  await registry.register('acme', manifest(version));
  const found = registry.find('acme', 'weather', range);
  return isFailure(found) ? found.code : found.tool.manifest.version;
}

test('REG-03.2 ranges mean what npm says that they mean', async ({ skip }) => {
  skip(!existsSync(CORPUS), 'the fixtures of node-semver are not there');
  const included = cases('range-include').filter(([, version]) => !version.startsWith('v'));
  const excluded = cases('range-exclude').filter(([, version]) => !version.startsWith('v'));
  expect(included.length + excluded.length).toBeGreaterThan(120);
  const wrong: string[] = [];
  for (const [range, version] of included) {
    // An empty range and * choose releases only, as the registry's default does, so pre-releases are left out.
    if (range.trim() === '' && version.includes('-')) continue;
    if ((await choice(range, version)) !== version) wrong.push(`${range} leaves out ${version}`);
  }
  for (const [range, version] of excluded) {
    if (!(await choice(range, version)).startsWith('E300')) wrong.push(`${range} takes ${version}`);
  }
  expect(wrong).toEqual([]);
});
