import { rm } from 'node:fs/promises';
import { tool } from '@langchain/core/tools';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

let layer: EmbeddedToolLayer;
let folder: string;
let token: string;
beforeAll(async () => {
  folder = await temporaryDataFolder('sallyport-functions-');
  layer = await createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment: {} });
  token = (await layer.mintToken({})).capability_token;
});
afterAll(async () => {
  await layer.close();
  await rm(folder, { recursive: true, force: true });
});

const call = (tool_id: string, parameters: Record<string, unknown>, capability_token = token) =>
  layer.invoke({ tool_id, parameters, capability_token });
const PURE = { sideEffect: 'pure' } as const;

describe('functions', () => {
  test('REG-02.12 with a schema of TypeBox are registered and called', async () => {
    const input = Type.Object({ a: Type.Number(), b: Type.Number() }, { additionalProperties: false });
    const add = { name: 'add', description: 'Adds.', input, output: Type.Number(), ...PURE };
    const registered = await layer.registerFunction(add, ({ a, b }) => a + b);
    expect(registered).toMatchObject({ tool_id: 'add', version: '1.0.0', outcome: 'created' });
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ status: 'success', result: 3 });
    expect(await call('add', { a: 1, c: 2 })).toMatchObject({ status: 'error', error: { e_code: 'E3509' } });
  });

  test('REG-02.13 with a schema of zod get what it made, and its refinements refuse with the place', async () => {
    const input = z
      .object({ from: z.number(), to: z.number(), unit: z.string().default('km') })
      .refine(({ from, to }) => from < to, { message: 'from must lie before to', path: ['from'] });
    const range = { name: 'range', description: 'Measures.', input, ...PURE };
    await layer.registerFunction(range, ({ from, to, unit }) => `${to - from} ${unit}`);
    expect(await call('range', { from: 1, to: 4 })).toMatchObject({ status: 'success', result: '3 km' });
    expect(await call('range', { from: 4, to: 4 })).toMatchObject({
      status: 'error',
      error: { e_code: 'E3509', details: { faults: [{ path: '/from', message: 'from must lie before to' }] } },
    });
    expect(await call('range', { from: 'x', to: 4 })).toMatchObject({ status: 'error' });
  });

  test('run for the manifest that they were written for: not for one that another tenant gave the same id', async () => {
    const input = Type.Object({ amount: Type.Number({ maximum: 10 }) }, { additionalProperties: false });
    await layer.registerFunction({ name: 'pay', description: 'Pays.', input, ...PURE }, ({ amount }) => amount);
    const north = { door: 'library', local: true, tenantId: 'north' } as const;
    const loose = {
      ...{ tool_id: 'pay', tool_name: 'pay', version: '1.0.0', description: 'Pays.' },
      parameters_schema: { type: 'object' },
      executor: { kind: 'native' },
    };
    await layer.ask('tools.register', { manifest: loose }, north);
    const { capability_token } = await layer.mintToken({ tenant_id: 'north' });
    expect(await call('pay', { amount: 1000 }, capability_token)).toMatchObject({
      status: 'error',
      error: { e_code: 'E3901' },
    });
    expect(await call('pay', { amount: 7 })).toMatchObject({ status: 'success', result: 7 });
  });

  test('with a schema that gives no JSON Schema, or another function already, are refused', async () => {
    const mute = { '~standard': { version: 1, vendor: 'mute', validate: (value: unknown) => ({ value }) } } as const;
    const definition = { name: 'mute', description: 'Says nothing.', input: mute };
    await expect(layer.registerFunction(definition, () => 1)).rejects.toMatchObject({ code: 'E3008' });
    const once = { name: 'once', description: 'Once.' };
    await layer.registerFunction(once, () => 1);
    await expect(layer.registerFunction(once, () => 2)).rejects.toMatchObject({ code: 'E3007' });
    const changed = { ...once, description: 'Twice.' };
    await expect(layer.registerFunction(changed, () => 2)).rejects.toMatchObject({ code: 'E3007' });
  });
});

describe('tools of LangChain', () => {
  const schema = z.object({ city: z.string().min(2) });
  const weather = tool(async ({ city }) => `sunny in ${city}`, { name: 'weather', description: 'Tells.', schema });

  test('REG-02.10 objects are registered with what runs them, and what is none is listed', async () => {
    const both = await layer.registerLangChainTools([weather, { name: 'mute' }], { sideEffect: 'idempotent' });
    expect(both).toMatchObject({
      source: 'langchain',
      registrations: [{ tool_id: 'langchain__weather', outcome: 'created' }],
      skipped: [{ place: 'mute' }],
    });
    expect(await call('langchain__weather', { city: 'Oslo' })).toMatchObject({ result: 'sunny in Oslo' });
    const again = await layer.registerLangChainTools([weather], { sideEffect: 'idempotent' });
    expect(again.registrations).toMatchObject([{ outcome: 'refused', error: { e_code: 'E3007' } }]);
  });

  test('REG-02.11 serialised ones are imported, say what is missing when called, and run once it is bound', async () => {
    const serialised = { name: 'stock', description: 'Tells.', schema: { type: 'object', properties: { of: {} } } };
    const report = await layer.ask('tools.import-langchain', { tools: [serialised], name: 'shop' }, LOCAL_CALLER);
    expect(report.registrations).toMatchObject([{ tool_id: 'shop__stock', outcome: 'created' }]);
    expect(await call('shop__stock', { of: 'tea' })).toMatchObject({
      status: 'error',
      error: { e_code: 'E3901', message: expect.stringContaining("bindFunction('shop__stock', run)") },
    });
    const bound = await layer.bindFunction('shop__stock', ({ of }) => ({ of, left: 3 }));
    expect(await call('shop__stock', { of: 'tea' })).toMatchObject({ result: { of: 'tea', left: 3 } });
    bound[Symbol.dispose]();
    expect(await call('shop__stock', { of: 'tea' })).toMatchObject({ error: { e_code: 'E3901' } });
    await expect(layer.bindFunction('nobody', () => 1)).rejects.toMatchObject({ code: 'E3001' });
  });
});

test('REG-02.15 EXE-08.4 a skill is registered and read, and calling it gives its instructions and its files', async () => {
  const content = '---\nname: pdf\ndescription: Reads PDF files.\n---\nUse scripts/read.py.';
  const files = [
    { path: 'SKILL.md', content },
    { path: 'scripts/read.py', base64: 'IyE=', executable: true },
  ];
  const report = await layer.ask('tools.import-skill', { files }, LOCAL_CALLER);
  expect(report.registrations).toMatchObject([{ tool_id: 'skill__pdf', outcome: 'created' }]);
  const { manifest } = await layer.ask('tools.get', { tool_id: 'skill__pdf' }, LOCAL_CALLER);
  expect(manifest.executor.config).toMatchObject({
    instructions: 'Use scripts/read.py.',
    scripts: ['scripts/read.py'],
  });
  expect(await call('skill__pdf', {})).toMatchObject({
    status: 'success',
    result: { instructions: 'Use scripts/read.py.' },
  });
  for (const odd of [{ path: 'a' }, { path: 'a', content: '', base64: '' }, { path: 'a', base64: '*' }]) {
    const asked = layer.ask('tools.import-skill', { files: [...files, odd] }, LOCAL_CALLER);
    await expect(asked).rejects.toMatchObject({ code: 'E3801' });
  }
});

test('REG-02 an operation that cannot be sent is on record, and calling it says why', async () => {
  const document = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Bank', version: '1.0.0' },
    servers: [{ url: 'https://bank.example' }],
    components: { securitySchemes: { client: { type: 'mutualTLS' } } },
    paths: { '/balance': { get: { operationId: 'balance', security: [{ client: [] }] } } },
  });
  const report = await layer.ask('tools.import-openapi', { document }, LOCAL_CALLER);
  expect(report).toMatchObject({ skipped: [], registrations: [{ tool_id: 'bank__balance', outcome: 'created' }] });
  const { capability_token } = await layer.mintToken({ hosts: ['bank.example'], ports: [443] });
  expect(await call('bank__balance', {}, capability_token)).toMatchObject({
    status: 'error',
    error: { e_code: 'E3901', message: expect.stringContaining('mutualTLS') },
  });
});

test('a whole manifest still takes a function', async () => {
  const manifest: ToolManifest = {
    tool_id: 'whole',
    tool_name: 'Whole',
    version: '1.0.0',
    description: 'Whole.',
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
  };
  await layer.registerFunction(manifest, ({ n }) => ({ n }));
  expect(await call('whole', { n: 1 })).toMatchObject({ result: { n: 1 } });
});

test('SBX-02 a module runs with no less isolation than the operator wants for all programs', async () => {
  const folder = await temporaryDataFolder('sallyport-module-isolation-');
  const settings = { data_folder: folder, 'sandbox.drivers': ['bubblewrap'], 'sandbox.isolation': 'microvm' } as const;
  const strict = await createToolLayer({ settings, log: silentLog, environment: {} });
  try {
    const manifest: ToolManifest = {
      ...{ tool_id: 'module', tool_name: 'Module', version: '1.0.0', description: 'Runs.' },
      parameters_schema: { type: 'object' },
      executor: { kind: 'native', config: { module: 'export default () => "ran"' } },
    };
    await strict.ask('tools.register', { manifest }, LOCAL_CALLER);
    await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    expect(await call('module', {})).toMatchObject({ status: 'success', result: 'ran' });
    const { capability_token } = await strict.mintToken({});
    expect(await strict.invoke({ tool_id: 'module', parameters: {}, capability_token })).toMatchObject({
      status: 'error',
      error: { e_code: 'E3101', details: { isolation: 'microvm' } },
    });
  } finally {
    await strict.close();
    await rm(folder, { recursive: true, force: true });
  }
});
