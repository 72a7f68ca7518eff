import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { createProgramOffers } from '../../executors/native/program-offers.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { functionTools } from './function-tools.ts';
import { offerTools } from './offer-tools.ts';

const CALLER: Caller = { door: 'library', local: true };
const manifest = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  ...{ tool_id, tool_name: tool_id, version: '1.0.0', description: 'Does it.', side_effect_policy: 'pure' as const },
  ...{ parameters_schema: { type: 'object' }, executor: { kind: 'native' as const } },
  ...more,
});

/** A layer that keeps what is registered, and refuses tools whose ids end with `refused`. */
function layerWith(...known: readonly ToolManifest[]) {
  const tools = new Map(known.map((each) => [each.tool_id, each]));
  const asked: unknown[][] = [];
  let added = 0;
  const ask = async (name: string, input: { manifest: ToolManifest; tool_id: string }, caller: Caller) => {
    asked.push([name, input, caller]);
    const found = tools.get(input.tool_id);
    if (name === 'tools.get' && found === undefined) throw new ToolLayerError('E3001', 'There is no such tool.');
    if (name === 'tools.get') return { manifest: found, content_hash: `hash of ${input.tool_id}` };
    const { tool_id, version } = input.manifest;
    if (tool_id.endsWith('refused')) throw new ToolLayerError('E3008', 'It is faulty.', { details: { faults: ['x'] } });
    tools.set(tool_id, input.manifest);
    return { tool_id, version, outcome: 'registered', warnings: [], content_hash: `hash of ${tool_id}` };
  };
  const native = createNativeExecutor();
  const functions = functionTools({ ask } as unknown as ToolLayer, native, CALLER, () => {
    added += 1;
  });
  /** The function that runs a manifest, by the hash of its content. */
  const run = async (tool_id: string, contentHash = `hash of ${tool_id}`) => {
    const version = { tenantId: 't', manifest: tools.get(tool_id), contentHash };
    const call = { tool: version, parameters: { n: 2 }, principal: {}, signal: new AbortController().signal };
    return (await native.execute(call as never, call.signal)) as { result?: unknown };
  };
  return { asked, functions, native, run, added: () => added };
}

test('REG-02 a function is registered with its manifest or its definition, as the program itself, and runs what it was written for', async () => {
  const { asked, functions, run, added } = layerWith();
  const given = manifest('double');
  await functions.registerFunction(given, ({ n }) => Number(n) * 2);
  expect(asked).toEqual([['tools.register', { manifest: given }, CALLER]]);
  expect((await run('double')).result).toBe(4);
  await expect(run('double', 'hash of another')).rejects.toMatchObject({ code: expect.stringMatching(/^E3/) });
  const definition = {
    ...{ name: 'half', description: 'Halves a number.' },
    input: { type: 'object', properties: { n: { type: 'number', description: 'The number.' } } } as const,
  };
  expect(await functions.registerFunction(definition, ({ n }) => Number(n) / 2)).toMatchObject({
    ...{ tool_id: 'half', outcome: 'registered' },
  });
  expect([(await run('half')).result, added()]).toEqual([1, 2]);
  await expect(functions.registerFunction(manifest('refused'), () => 1)).rejects.toMatchObject({ code: 'E3008' });
});

test('REG-02 a function is bound to the version that the range names, and to tools of its kind alone', async () => {
  const { asked, functions, run, added } = layerWith(
    manifest('own'),
    manifest('other', { executor: { kind: 'http' } }),
  );
  const bound = await functions.bindFunction('own', () => 'bound', '^1.0.0');
  await expect(functions.bindFunction('own', () => 'twice')).rejects.toMatchObject({ code: 'E3007' });
  expect(asked.map(([, input]) => input)).toEqual([{ tool_id: 'own', version: '^1.0.0' }, { tool_id: 'own' }]);
  expect([(await run('own')).result, added()]).toEqual(['bound', 1]);
  bound[Symbol.dispose]();
  await expect(run('own')).rejects.toMatchObject({ code: expect.stringMatching(/^E3/) });
  await expect(functions.bindFunction('other', () => 1)).rejects.toMatchObject({
    ...{ code: 'E3901', message: expect.stringContaining('other is of kind http') },
  });
  await expect(functions.bindFunction('none', () => 1)).rejects.toMatchObject({ code: 'E3001' });
});

const langChainTool = (name: string) => ({
  ...{ name, description: 'Does it.', schema: { type: 'object', properties: {} } },
  invoke: async () => `${name} ran`,
});

test('REG-02 tools of LangChain are registered each by itself: one that is refused has its error and keeps no other out', async () => {
  const { functions, run } = layerWith();
  const mute = { name: 'mute', description: 'Does nothing.', schema: { type: 'object', properties: {} } };
  const given = [langChainTool('refused'), langChainTool('fine'), mute, 7];
  const { source, registrations, skipped } = await functions.registerLangChainTools(given, { name: 'x' });
  expect([source, skipped.length]).toEqual(['x', 2]);
  expect(registrations).toEqual([
    {
      ...{ tool_id: 'x__refused', version: '1.0.0', outcome: 'refused', warnings: [] },
      error: expect.objectContaining({ e_code: 'E3008', message: 'It is faulty.' }),
    },
    expect.objectContaining({ tool_id: 'x__fine', outcome: 'registered' }),
  ]);
  expect((await run('x__fine')).result).toBe('fine ran');
  expect((await functions.registerLangChainTools([])).source).toBe('langchain');
});

test('REG-02 a LangChain tool with a long name keeps the id under which an earlier release registered it', async () => {
  const long = 'a'.repeat(50);
  const idIn = async (...known: readonly string[]) => {
    const { functions } = layerWith(...known.map((id) => manifest(id)));
    return (await functions.registerLangChainTools([langChainTool(long)])).registrations[0]?.tool_id;
  };
  expect(await idIn(`langchain__${long}`)).toBe(`langchain__${long}`);
  expect((await idIn())?.length).toBe(48);
});

test('API-03.24 what a program offers is used by tools that are registered once each is needed', async () => {
  const registered: ToolManifest[] = [];
  let isDown = true;
  const offers = createProgramOffers('own');
  const { registerResource, registerPrompt } = offerTools(offers, async (each) => {
    if (isDown) throw new Error('no database');
    registered.push(each);
  });
  const read = () => 'text';
  await expect(registerResource({ uri: 'a:1', name: 'one', read })).rejects.toThrow('no database');
  isDown = false;
  await registerResource({ uri: 'a:1', name: 'one', read });
  await registerResource({ uri: 'a:2', name: 'two', read });
  expect(registered.map(({ tool_id }) => tool_id)).toEqual(['program__resources-read']);
  await registerPrompt({ name: 'plain', get: () => 'text' });
  expect(registered.map(({ tool_id }) => tool_id).slice(1)).toEqual(['program__prompts-get']);
  await registerResource({ uriTemplate: 'b:{x}', name: 'three', read });
  await registerPrompt({ name: 'asking', arguments: [{ name: 'x' }], get: () => 'text' });
  expect(registered.map(({ tool_id }) => tool_id).slice(2)).toEqual(['program__completion-complete']);
  expect(registered[0]).toMatchObject({
    ...{ version: '1.0.0', side_effect_policy: 'pure', executor: { kind: 'native' } },
    ...{ tool_name: expect.stringMatching(/\w/), description: expect.stringContaining('this program') },
    parameters_schema: { type: 'object', properties: { uri: expect.anything() } },
  });
  await expect(registerPrompt({ name: 'plain', get: () => 'text' })).rejects.toMatchObject({ code: 'E3007' });
  expect(await offers.offers('own')).toBeDefined();
});
