import { systemClock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../../api/schemas/imports.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryQuarantineStore } from '../../../test/stores/memory-quarantine-store.ts';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import { createQuarantine } from '../../mcp-servers/quarantine.ts';
import type { ImportedTools } from '../../registry/importer.port.ts';
import { importOpenApi } from '../../registry/importers/openapi/openapi-importer.ts';
import { createRegistry, RETENTION, type Registry } from '../../registry/registry.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import type { Asker } from '../operation.ts';
import { type ImportOptions, importReport } from './import-report.ts';

const asker: Asker = { caller: { door: 'library' }, principal: { tenantId: 'acme', agentDid: 'did:op', roles: [] } };
const commits: Record<string, unknown>[] = [];
let registry: Registry;
let parts: Parameters<typeof importReport>[0];

beforeEach(async () => {
  commits.length = 0;
  const { inspect } = createSchemaValidator();
  const clock = systemClock;
  const configFaults = () => [];
  registry = createRegistry({
    store: memoryToolStore(),
    clock,
    log: silentLog,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema: inspect,
    configFaults,
  });
  const ledger = await openLedger({ store: memoryLedgerStore(), chainId: 'test', log: silentLog });
  const commit: typeof ledger.commit = (entry) => {
    commits.push(...entry.events.flatMap((event) => ('data' in event ? [{ ...event.data }] : [])));
    return ledger.commit(entry);
  };
  const quarantine = createQuarantine({ store: memoryQuarantineStore(), clock, log: silentLog });
  parts = { registry, quarantine, clock, ledger: { ...ledger, commit } };
});

type Operations = Record<string, Record<string, unknown>>;
const document = (paths: Operations, version = '1.0.0'): Promise<ImportedTools> =>
  importOpenApi(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Pets', version },
      servers: [{ url: 'https://a.example' }],
      paths,
    }),
    {},
  );
const query = (name: string, more: object = {}) => ({ name, in: 'query', schema: { type: 'string' }, ...more });
const take = (imported: ImportedTools, options: Partial<ImportOptions> = {}): Promise<ImportReport> =>
  importReport(parts, asker, imported, { whole: 'http', ...options });
const outcomes = ({ registrations }: ImportReport): string[] =>
  registrations.map(({ tool_id, version, outcome }) => `${outcome} ${tool_id} ${version}`);
const versionOf = (toolId: string): string => {
  const found = registry.find('acme', toolId);
  return isFailure(found) ? found.code : found.tool.manifest.version;
};

const TWO = { '/a': { get: { parameters: [query('q')] } }, '/b': { get: {} } };
const LOOSER = { '/a': { get: { parameters: [query('q'), query('limit')] } }, '/b': { get: {} } };
const STRICTER = { '/a': { get: { parameters: [query('q', { required: true })] } }, '/b': { get: {} } };

test('REG-02 the same document again changes nothing and is not recorded', async () => {
  const first = await take(await document(TWO));
  expect(outcomes(first)).toEqual(['created pets__GET_a 1.0.0', 'created pets__GET_b 1.0.0']);
  expect(commits).toMatchObject([{ change: 'imported', source: 'pets', tool_ids: ['pets__GET_a', 'pets__GET_b'] }]);
  const again = await take(await document(TWO));
  expect(outcomes(again)).toEqual(['unchanged pets__GET_a 1.0.0', 'unchanged pets__GET_b 1.0.0']);
  expect(again.registrations[0]?.content_hash).toBe(first.registrations[0]?.content_hash);
  expect(again).toMatchObject({ missing: [], dry_run: false });
  expect(commits).toHaveLength(1);
});

test('REG-02 a changed tool under the same version is refused with what changed, and the others stay', async () => {
  await take(await document(TWO));
  const { registrations } = await take(await document(STRICTER));
  expect(registrations).toMatchObject([
    {
      tool_id: 'pets__GET_a',
      outcome: 'refused',
      breaking: true,
      error: { e_code: 'E3007', message: expect.stringContaining('import with bump') },
      changes: [{ severity: 'breaking', path: expect.stringContaining('/parameters_schema') }],
    },
    { tool_id: 'pets__GET_b', outcome: 'unchanged' },
  ]);
  expect(versionOf('pets__GET_a')).toBe('1.0.0');
});

describe('with bump', () => {
  test('REG-02 a change that breaks nobody takes the next minor version, one that breaks callers the next major', async () => {
    await take(await document(TWO));
    const looser = await take(await document(LOOSER), { bump: true });
    expect(outcomes(looser)).toEqual(['created pets__GET_a 1.1.0', 'unchanged pets__GET_b 1.0.0']);
    expect(looser.registrations[0]).toMatchObject({ replaces: '1.0.0', breaking: false });
    const stricter = await take(await document(STRICTER), { bump: true });
    expect(outcomes(stricter)[0]).toBe('created pets__GET_a 2.0.0');
    expect(stricter.registrations[0]).toMatchObject({ replaces: '1.1.0', breaking: true });
    expect(versionOf('pets__GET_a')).toBe('2.0.0');
  });

  test('the same document again is unchanged, with and without it', async () => {
    await take(await document(TWO));
    await take(await document(LOOSER), { bump: true });
    for (const bump of [true, false]) {
      const again = await take(await document(LOOSER), { bump });
      expect(outcomes(again)).toEqual(['unchanged pets__GET_a 1.1.0', 'unchanged pets__GET_b 1.0.0']);
      expect(again.registrations[0]?.warnings).toEqual([]);
    }
  });

  test('a version that the document raises itself is taken as it is', async () => {
    await take(await document(TWO));
    const next = await take(await document(STRICTER, '3.0.0'), { bump: true });
    expect(outcomes(next)).toEqual(['created pets__GET_a 3.0.0', 'created pets__GET_b 3.0.0']);
  });

  test('numbers of removed versions are passed over', async () => {
    await take(await document(TWO));
    await take(await document(LOOSER), { bump: true });
    await registry.move({ tenantId: 'acme', toolId: 'pets__GET_a', version: '1.1.0', to: 'removed', force: true });
    const other = { ...LOOSER, '/a': { get: { summary: 'Other' } } };
    expect(outcomes(await take(await document(other), { bump: true }))[0]).toMatch(
      /^created pets__GET_a (?:1\.2|2\.0)\.0$/,
    );
  });

  test('a document whose own version was removed with another content still finds a number', async () => {
    await take(await document(TWO));
    await registry.removeAll('acme', ['pets__GET_a']);
    expect(outcomes(await take(await document(LOOSER)))[0]).toBe('refused pets__GET_a 1.0.0');
    expect(outcomes(await take(await document(LOOSER), { bump: true }))[0]).toBe('created pets__GET_a 1.1.0');
    expect(outcomes(await take(await document(TWO)))[0]).toBe('created pets__GET_a 1.0.0');
  });
});

test('an older document says that callers get a newer version', async () => {
  await take(await document(TWO));
  await take(await document(LOOSER), { bump: true });
  const [tool] = (await take(await document(TWO))).registrations;
  expect(tool).toMatchObject({
    outcome: 'unchanged',
    version: '1.0.0',
    warnings: [{ code: 'newer_version_registered' }],
  });
});

test('REG-02 tools that the document no longer has are named, those of other sources and kinds are not', async () => {
  await take(await document(TWO));
  const other = (tool_id: string): ToolManifest => ({
    tool_id,
    tool_name: 'x',
    version: '1.0.0',
    description: 'x',
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
  });
  await registry.registerAll('acme', [other('pets__native'), other('petshop__x')]);
  const { '/b': _, ...rest } = TWO;
  expect((await take(await document(rest))).missing).toEqual(['pets__GET_b']);
  expect((await take(await document(rest), { whole: undefined })).missing).toEqual([]);
  expect(versionOf('pets__GET_b')).toBe('1.0.0');
});

test('REG-02 a dry run says what would happen and writes nothing', async () => {
  const imported = await document(TWO);
  const bad: ToolManifest = {
    ...(imported.manifests[0] as ToolManifest),
    tool_id: 'pets__bad',
    parameters_schema: { type: 'none' },
  };
  const dry = await take({ ...imported, manifests: [...imported.manifests, bad] }, { dry_run: true });
  expect(outcomes(dry)).toEqual(['created pets__GET_a 1.0.0', 'created pets__GET_b 1.0.0', 'refused pets__bad 1.0.0']);
  expect(dry).toMatchObject({ dry_run: true, registrations: [{}, {}, { error: { e_code: 'E3008' } }] });
  expect(commits).toEqual([]);
  expect(registry.manifests('acme')).toEqual([]);
  await take(imported);
  expect(outcomes(await take(await document(LOOSER), { dry_run: true, bump: true }))[0]).toBe(
    'created pets__GET_a 1.1.0',
  );
  expect(versionOf('pets__GET_a')).toBe('1.0.0');
});

test('REG-13 an id that belongs to a tool of an upstream is not taken over, with bump neither; the others stay', async () => {
  const owned = { tenantId: 'acme', toolId: 'pets__GET_a', upstream: 'pets', tool: 'GET_a', noticedAt: '' };
  await parts.quarantine.put([owned]);
  for (const options of [{}, { bump: true }, { dry_run: true }]) {
    const { registrations } = await take(await document(TWO), options);
    expect(registrations).toMatchObject([
      {
        tool_id: 'pets__GET_a',
        outcome: 'refused',
        error: { e_code: 'E3007', message: expect.stringContaining('pets') },
      },
      { tool_id: 'pets__GET_b' },
    ]);
  }
  expect(versionOf('pets__GET_a')).toBe('E3001');
  expect(versionOf('pets__GET_b')).toBe('1.0.0');
});

test('two imports of one change at the same time end with one version', async () => {
  await take(await document(TWO));
  const change = await document(LOOSER);
  const both = await Promise.all([take(change, { bump: true }), take(change, { bump: true })]);
  expect(both.map((report) => outcomes(report)[0])).toEqual(
    expect.arrayContaining(['created pets__GET_a 1.1.0', 'unchanged pets__GET_a 1.1.0']),
  );
  expect(registry.versions('acme', 'pets__GET_a')).toHaveLength(2);
});
