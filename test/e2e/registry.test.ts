import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../packages/sallyport/src/doors/cli/run-cli.ts';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
let operator: string;
beforeAll(async () => {
  open = await openLayer({ 'audit.checkpoint_seconds': 0.1 });
  operator = (await open.layer.mintToken({ roles: ['operator'] })).capability_token;
});
afterAll(() => open[Symbol.asyncDispose]());

const tool = (tool_id: string, version: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  ...DOUBLE,
  tool_id,
  version,
  executor: { kind: 'shell', config: { command: ['true'] } },
  ...more,
});

const register = (manifest: object) => open.layer.ask('tools.register', { manifest: { ...manifest } }, LOCAL_CALLER);

async function rest(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  if (body !== undefined) return post({ ...open, token: operator }, path, JSON.stringify(body));
  const response = await fetch(open.server.url + path, { headers: { authorization: `Bearer ${operator}` } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Runs the command line on the layer of this test. */
async function cli(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    stdin: (async function* () {})(),
    stdout: { write: (text: string) => void out.push(text) },
    stderr: { write: (text: string) => void err.push(text) },
    env: {},
    cwd: open.folder,
    signal: new AbortController().signal,
  };
  const none = async () => 0;
  const code = await runCli(argv, {
    io,
    version: '0',
    program: [],
    openLayer: async () => ({
      layer: open.layer,
      caller: LOCAL_CALLER,
      dataFolder: open.folder,
      close: async () => undefined,
    }),
    serve: none,
    mcpStdio: none,
    doctor: async () => [],
    migrateSettings: () => Promise.reject(new Error('nothing is migrated here')),
  });
  return { code, out: out.join(''), err: err.join('') };
}

test('REG-04.2 REG-04.4 REG-04.5 API-01.3 a version goes all the way through every door, and callers are told', async () => {
  const { layer, token } = open;
  await layer.registerFunction({ ...DOUBLE, tool_id: 'leaving' }, double);
  await layer.registerFunction({ ...DOUBLE, tool_id: 'leaving', version: '2.0.0' }, double);
  const call = (tool_version: string) =>
    layer.invoke({ tool_id: 'leaving', tool_version, parameters: { n: 1 }, capability_token: token });

  const deprecated = await rest('/v1/tools/leaving/deprecation', {
    version: '1.0.0',
    in_favor_of: '2.0.0',
    migration_guide: 'Nothing to do.',
  });
  expect(deprecated).toMatchObject({ status: 200, body: { versions: [{ version: '1.0.0', state: 'deprecated' }] } });
  expect(await call('1.0.0')).toMatchObject({
    status: 'success',
    warnings: expect.arrayContaining([
      expect.objectContaining({
        code: 'E3003',
        details: expect.objectContaining({ deprecated_in_favor_of: '2.0.0', migration_guide: 'Nothing to do.' }),
      }),
    ]),
  });

  expect((await cli('tools', 'sunset', 'leaving')).out).toContain('sunset');
  const early = await cli('tools', 'remove', 'leaving', '--version', '1.0.0');
  expect(early).toMatchObject({ code: 1, err: expect.stringContaining('E3814 state_conflict') });
  expect((await call('1.0.0')).status).toBe('success');
  expect(await cli('tools', 'remove', 'leaving', '--version', '1.0.0', '--force')).toMatchObject({ code: 0 });
  expect(await call('1.0.0')).toMatchObject({ error: { e_code: 'E3004' } });

  const history = await rest('/v1/tools/leaving/history');
  expect(history.body).toMatchObject({
    versions: [
      { version: '2.0.0', state: 'active' },
      { version: '1.0.0', state: 'removed', in_use: true },
    ],
  });
  await layer.ask('tools.restore', { tool_id: 'leaving', version: '1.0.0' }, LOCAL_CALLER);
  expect((await call('1.0.0')).status).toBe('success');
  const { events } = await layer.ask('audit.query', { tool_id: 'leaving' }, LOCAL_CALLER);
  const changes = events.filter(({ type }) => type === 'ai.agent.registry.changed').map(({ data }) => data['change']);
  expect(changes).toEqual(['registered', 'registered', 'deprecated', 'sunset', 'removed', 'restored']);
});

test('REG-04.7 the sixth version makes the oldest leave; the audit and the answer say so', async () => {
  for (const minor of [0, 1, 2, 3, 4]) await register(tool('many', `1.${minor}.0`));
  const { warnings } = await register(tool('many', '1.5.0'));
  expect(warnings).toContainEqual(expect.objectContaining({ code: 'version_retired' }));
  const { events } = await open.layer.ask('audit.query', { tool_id: 'many' }, LOCAL_CALLER);
  expect(events.at(-1)?.data).toMatchObject({
    change: 'deprecated',
    versions: ['1.0.0'],
    reason: 'More than 5 versions',
  });
});

test('REG-03 of registrations of one version at the same time, through two doors, exactly one creates', async () => {
  const manifest = tool('raced', '1.0.0');
  const asked = Array.from({ length: 6 }, (_, at) =>
    at % 2 === 0
      ? register(manifest).then(({ outcome }) => outcome)
      : rest('/v1/tools', { manifest }).then(({ body }) => body['outcome']),
  );
  const outcomes = await Promise.all(asked);
  expect(outcomes.toSorted()).toEqual(['created', ...Array.from({ length: 5 }, () => 'unchanged')]);
});

test('a comparison says the same through library, REST and command line', async () => {
  await register(tool('compared', '1.0.0'));
  const parameters_schema = { type: 'object', required: ['n', 'm'] };
  const { warnings } = await register(tool('compared', '1.1.0', { parameters_schema }));
  expect(warnings.map(({ code }) => code)).toContain('breaking_change');
  const own = await open.layer.ask('tools.diff', { tool_id: 'compared', from: '1.0.0' }, LOCAL_CALLER);
  expect(own).toMatchObject({ breaking: true, step: 'minor', step_honoured: false, warnings: [{}] });
  expect((await rest('/v1/tools/compared/diff?from=1.0.0&to=1.1.0')).body).toEqual(own);
  const shown = await cli('tools', 'diff', 'compared', '1.0.0', '1.1.0');
  expect(shown.out).toMatch(/^compared 1\.0\.0 → 1\.1\.0 \(minor\): breaks callers\nSEVERITY +FLAG/);
  expect(JSON.parse((await cli('tools', 'diff', 'compared', '1.0.0', '--json')).out)).toEqual(own);
});

test('REG-08.3 a check tells every fault and what is missing, and writes nothing', async () => {
  const bad = {
    ...tool('bad/id', '1'),
    parameters_schema: { type: 'object', properties: { a: { $ref: 'https://x' } } },
  };
  const { status, body } = await rest('/v1/manifest-checks', { manifest: bad });
  expect(status).toBe(200);
  expect(body).toMatchObject({ valid: false });
  expect((body['faults'] as { path: string }[]).map(({ path }) => path)).toEqual([
    '/tool_id',
    '/version',
    '/parameters_schema/properties/a/$ref',
  ]);
  await register(tool('described', '1.0.0'));
  const compliance = await rest('/v1/tools/described/compliance');
  expect(compliance.body).toMatchObject({
    version: '1.0.0',
    compliance: { score: 80, findings: [{ path: '/parameters_schema/$schema', rule: '$schema' }] },
  });
  expect((await cli('tools', 'compliance', 'described')).out).toContain('described 1.0.0: 80 % (4 of 5 points)');
});

test('REG-01.5 a tool shows its manifest as given and what counts', async () => {
  await register(tool('plain', '1.0.0', { execution_config: { default_timeout_seconds: 5 } }));
  const { body } = await rest('/v1/tools/plain');
  expect(body['manifest']).toMatchObject({ execution_config: { default_timeout_seconds: 5 } });
  expect(body['effective']).toMatchObject({
    side_effect_policy: 'pure',
    idempotent: true,
    execution_config: {
      default_timeout_seconds: 5,
      default_cpu_millicore_limit: 500,
      default_memory_mb_limit: 1024,
      retry_policy: { max_attempts: 3, base_delay_ms: 1000, max_delay_ms: 60_000 },
    },
  });
});

test('REG-10.3 a circle of requirements is refused at the door, and named', async () => {
  await register(tool('first', '1.0.0', { requires: ['second'] }));
  const refused = await rest('/v1/tools', { manifest: tool('second', '1.0.0', { requires: ['first'] }) });
  expect(refused).toMatchObject({ status: 400, body: { details: { cycle: ['second', 'first', 'second'] } } });
});

test.each(['data_access', 'computation', 'external_api', 'file_system', 'llm_interaction'] as const)(
  'REG-01.2 REG-01.3 REG-01.4 REG-01.7 REG-01.8 a manifest that says everything is kept as it was given: %s',
  async (category) => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const policies = { data_access: 'pure', computation: 'idempotent', external_api: 'compensatable' } as const;
    const said = tool(`whole-${category}`, '1.0.0', {
      ...{ category, tags: ['one', 'two'], compatibility_range: '^1.0.0', release_notes: 'First.' },
      parameters_schema: { $schema, type: 'object', properties: { n: { type: 'number', description: 'N.' } } },
      result_schema: { $schema, type: 'object' },
      permissions: {
        filesystem: [{ path: '/srv/data', mode: 'rw' }],
        network: [{ host: 'api.example.com', port: 443 }],
        credentials: ['key'],
      },
      document_dependencies: [],
      ...{ deterministic: true, idempotent: true, compensation_tool_id: 'double' },
      side_effect_policy: { ...policies, file_system: 'irreversible', llm_interaction: 'pure' }[category],
      ...{ requires_confirmation: true, confirmation_prompt: 'Really?', idempotency_key_fields: ['n'] },
      ...{ requires: ['plain'], prefers: ['many'], migration_guide: 'Say m for n.' },
    } as Partial<ToolManifest>);
    expect((await rest('/v1/tools', { manifest: said })).status).toBe(201);
    expect((await rest(`/v1/tools/${said.tool_id}`)).body['manifest']).toEqual(said);
  },
);

test('REG-07.4 without an address of a database the layer brings its own PostgreSQL', () => {
  const { layer, folder } = open;
  expect(layer.settings['database.url']).toBe('');
  expect(layer.embeddedDatabase).toBeDefined();
  expect(existsSync(join(folder, 'postgres', 'PG_VERSION'))).toBe(true);
});
