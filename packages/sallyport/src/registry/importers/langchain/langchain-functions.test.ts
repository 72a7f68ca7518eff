import { DynamicTool, tool } from '@langchain/core/tools';
import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { langChainFunctions } from './langchain-functions.ts';

const call = (signal: AbortSignal = new AbortController().signal) => ({
  invocationId: 'call-1',
  principal: { tenantId: 'acme', agentDid: 'did:a' },
  signal,
});
const first = (object: unknown, options = {}) => {
  const { tools, skipped } = langChainFunctions([object], options);
  expect(skipped).toEqual([]);
  const [made] = tools;
  if (made === undefined) throw new Error('there is no tool');
  return made;
};
const run = async (object: unknown, parameters: Record<string, unknown>, options = {}) =>
  first(object, options).run(parameters, call());
const refusal = (object: unknown, parameters: Record<string, unknown>): Promise<ToolLayerError> =>
  run(object, parameters).then(
    () => expect.unreachable('the call must be refused'),
    (thrown: ToolLayerError) => thrown,
  );

describe('tools of LangChain', () => {
  const schema = z.object({ city: z.string().min(2), days: z.number().int().default(1) });
  const weather = tool(async ({ city, days }) => `${city} for ${days}`, {
    name: 'weather',
    description: 'Tells.',
    schema,
  });

  test('REG-02.10 with zod 4, zod 3 and JSON Schema are registered with what runs them', async () => {
    expect(first(weather).manifest).toMatchObject({
      tool_id: 'langchain__weather',
      parameters_schema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] },
    });
    expect(await run(weather, { city: 'Oslo' })).toBe('Oslo for 1');
    const three = tool(({ n }: { n: number }) => ({ twice: n * 2 }), {
      name: 'twice',
      description: 'Doubles.',
      schema: z3.object({ n: z3.number() }) as never,
    });
    expect(first(three).manifest.parameters_schema).toMatchObject({ properties: { n: { type: 'number' } } });
    expect(await run(three, { n: 4 })).toEqual({ twice: 8 });
    const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
    const plain = tool((input) => JSON.stringify(input), { name: 'plain', description: 'Echoes.', schema: json });
    expect(first(plain).manifest.parameters_schema).toEqual(json);
    expect(await run(plain, { n: 1 })).toBe('{"n":1}');
  });

  test('that take one text get it out of the arguments', async () => {
    const shout = new DynamicTool({ name: 'shout', description: 'Shouts.', func: async (text) => text.toUpperCase() });
    expect(first(shout).manifest.parameters_schema).toMatchObject({
      type: 'object',
      properties: { input: { type: 'string' } },
    });
    expect(await run(shout, { input: 'ho' })).toBe('HO');
    const plain = { name: 'plain', schema: { type: 'string' }, invoke: (text: unknown) => ({ got: text }) };
    expect(await run(plain, { input: 'x' })).toEqual({ got: 'x' });
  });

  test('with an artifact answer with both parts', async () => {
    const both = tool(async () => ['two rows', { rows: [1, 2] }], {
      name: 'rows',
      description: 'Rows.',
      schema: z.object({}),
      responseFormat: 'content_and_artifact',
    });
    expect(first(both).manifest.result_schema).toMatchObject({ required: ['content'] });
    expect(await run(both, {})).toEqual({ content: 'two rows', artifact: { rows: [1, 2] } });
  });

  test('get signal, metadata of the call and the config of the program', async () => {
    let seen: Record<string, unknown> = {};
    const config = { configurable: { user: 'u1' }, tags: ['t'], metadata: { own: 1, tenant_id: 'forged' } };
    const spy = {
      name: 'spy',
      schema: { type: 'object' },
      invoke: (_input: unknown, given: Record<string, unknown>) => {
        seen = given;
      },
    };
    const controller = new AbortController();
    await first(spy, { config }).run({}, call(controller.signal));
    expect(seen).toMatchObject({
      configurable: { user: 'u1' },
      tags: ['t'],
      metadata: { own: 1, invocation_id: 'call-1', tenant_id: 'acme', agent_did: 'did:a' },
      signal: controller.signal,
    });
    const aborted = AbortSignal.abort(new Error('stop'));
    await expect((async () => first(weather).run({ city: 'Oslo' }, call(aborted)))()).rejects.toThrow();
  });

  test('that refuse their input end with E3509 and the places', async () => {
    const refused = await refusal(weather, { city: 'x' });
    expect(refused.code).toBe('E3509');
    expect(refused.failure.details?.['faults']).toMatchObject([{ path: '/city', code: 'E3509' }]);
  });

  test('that fail throw what they threw, and messages of errors become E3109', async () => {
    const boom = new TypeError('boom');
    expect(await refusal({ name: 'a', invoke: () => Promise.reject(boom) }, {})).toBe(boom);
    const message = { content: 'no such city', tool_call_id: 'x', status: 'error' };
    expect(await refusal({ name: 'a', invoke: () => message }, {})).toMatchObject({
      code: 'E3109',
      message: 'The tool a answered with an error: no such city',
    });
  });
});

describe('anything like a tool', () => {
  test('runs by invoke or call, and keeps answers that look like messages', async () => {
    expect(await run({ name: 'a', call: (input: unknown) => input }, { x: 1 })).toEqual({ x: 1 });
    expect(await run({ name: 'a', invoke: () => undefined }, {})).toBeNull();
    expect(await run({ name: 'a', invoke: () => ({ content: 'page', size: 4 }) }, {})).toEqual({
      content: 'page',
      size: 4,
    });
    expect(await run({ name: 'a', invoke: () => ({ content: 'text', tool_call_id: 'x' }) }, {})).toBe('text');
  });

  test('an answer that JSON cannot hold is refused', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const answer of [circle, 1n, () => 1, { big: 1n }]) {
      expect((await refusal({ name: 'a', invoke: () => answer }, {})).code).toBe('E3501');
    }
  });

  test('what cannot be called or read is listed', () => {
    const throwing = {
      get name(): string {
        throw new Error('no');
      },
      invoke: () => 1,
    };
    const { tools, skipped } = langChainFunctions([{ name: 'mute' }, throwing, { name: 'good', invoke: () => 1 }]);
    expect(tools.map(({ manifest }) => manifest.tool_id)).toEqual(['langchain__good']);
    expect(skipped.map(({ reason }) => reason).sort()).toEqual([
      'it has neither invoke nor call',
      'one of its members cannot be read',
    ]);
  });
});
