import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { Fault } from '../../../../api/schemas/error.ts';
import { type FunctionDefinition, nativeTool } from './native-importer.ts';

const named = { name: 'Add numbers', description: 'Adds.' };
const refusal = (definition: Partial<FunctionDefinition>): ToolLayerError => {
  try {
    nativeTool({ ...named, ...definition }, () => null);
  } catch (thrown) {
    return thrown as ToolLayerError;
  }
  return expect.unreachable('the function must be refused');
};
const faultsIn = ({ failure }: ToolLayerError): Fault[] => failure.details?.['faults'] as Fault[];
const failureOf = async (run: () => unknown): Promise<ToolLayerError> => {
  try {
    await run();
  } catch (thrown) {
    return thrown as ToolLayerError;
  }
  return expect.unreachable('the call must be refused');
};

test('a manifest is derived, and what the author says wins', () => {
  const input = Type.Object({ a: Type.Number() });
  const { manifest } = nativeTool({ ...named, input }, () => 1);
  expect(manifest).toEqual({
    tool_id: 'Add_numbers',
    tool_name: 'Add numbers',
    version: '1.0.0',
    description: 'Adds.',
    side_effect_policy: 'irreversible',
    parameters_schema: { type: 'object', required: ['a'], properties: { a: { type: 'number' } } },
    executor: { kind: 'native' },
  });
  const said = nativeTool(
    { ...named, toolId: 'add', version: '2.1.0', sideEffect: 'pure', manifest: { tags: ['math'] } },
    () => 1,
  );
  expect(said.manifest).toMatchObject({ tool_id: 'add', version: '2.1.0', side_effect_policy: 'pure', tags: ['math'] });
  expect(said.manifest.parameters_schema).toEqual({ type: 'object', properties: {}, additionalProperties: false });
});

describe('a schema of a library', () => {
  for (const [version, zod] of [
    ['4', z],
    ['3', z3 as unknown as typeof z],
  ] as const) {
    test(`zod ${version}: the function gets what the schema made, refinements hold with their places`, async () => {
      const input = zod
        .object({ from: zod.number(), to: zod.number(), label: zod.string().trim().default('none') })
        .refine(({ from, to }) => from < to, { message: 'from must lie before to', path: ['from'] });
      const { run } = nativeTool({ ...named, input }, (value) => value);
      expect(await run({ from: 1, to: 2, label: ' x ', extra: true }, {})).toEqual({ from: 1, to: 2, label: 'x' });
      expect(await run({ from: 1, to: 2 }, {})).toEqual({ from: 1, to: 2, label: 'none' });
      const refused = await failureOf(() => run({ from: 2, to: 2 }, {}));
      expect(refused.code).toBe('E3509');
      expect(refused.failure.details?.['faults']).toEqual([
        { path: '/from', code: 'E3509', keyword: 'schema', message: 'from must lie before to' },
      ]);
    });
  }

  test('a result is what its schema made of it, or E3501', async () => {
    const output = z.object({ sum: z.number().max(9) });
    const { run, manifest } = nativeTool({ ...named, output }, (_input, sum: number) => ({ sum, secret: 1 }));
    expect(manifest.result_schema).toMatchObject({
      type: 'object',
      properties: { sum: { type: 'number', maximum: 9 } },
    });
    expect(run({}, 9)).toEqual({ sum: 9 });
    const refused = await failureOf(() => run({}, 10));
    expect(refused).toMatchObject({ code: 'E3501', failure: { details: { faults: [{ path: '/sum' }] } } });
  });

  test('asynchronous refinements and functions are waited for, synchronous ones answer at once', async () => {
    const later = z.object({ n: z.number().refine(async (n) => n > 0) });
    const { run } = nativeTool({ ...named, input: later }, async ({ n }) => n);
    expect(await run({ n: 1 }, {})).toBe(1);
    expect((await failureOf(() => run({ n: 0 }, {}))).code).toBe('E3509');
    expect(nativeTool({ ...named, input: z.object({ n: z.number() }) }, ({ n }) => n).run({ n: 5 }, {})).toBe(5);
  });

  test('REG-02.14 that gives no JSON Schema is refused, and taken with the JSON Schema beside it', async () => {
    const validate = (value: unknown) =>
      typeof (value as { n?: unknown }).n === 'number'
        ? { value: 'converted' }
        : { issues: [{ message: 'no n', path: [{ key: 'n' }] }] };
    const mute = { '~standard': { version: 1, vendor: 'mute', validate } };
    const refused = refusal({ input: mute });
    expect(refused.code).toBe('E3008');
    expect(refused.message).toContain('inputJsonSchema');
    expect(refused.failure.details?.['faults']).toMatchObject([{ path: '/input' }]);
    const { run, manifest } = nativeTool(
      { ...named, input: mute, inputJsonSchema: { type: 'object' } },
      (value) => value,
    );
    expect(manifest.parameters_schema).toEqual({ type: 'object' });
    expect(run({ n: 1 }, {})).toBe('converted');
    expect((await failureOf(() => run({}, {}))).failure.details?.['faults']).toMatchObject([{ path: '/n' }]);
  });
});

test('every fault of a definition is told at once', () => {
  const circle: Record<string, unknown> = { type: 'object' };
  circle['properties'] = { self: circle };
  const refused = refusal({ name: ' ', description: 7 as unknown as string, input: circle, output: { run: () => 1 } });
  expect(faultsIn(refused).map(({ path }) => path)).toEqual([
    '/name',
    '/description',
    '/input/properties/self',
    '/output/run',
  ]);
});

test('issues beyond the bound are not told, and odd paths do no harm', async () => {
  const issues = Array.from({ length: 50 }, () => ({ message: 'x'.repeat(9000), path: ['a/b', Symbol('s'), 0] }));
  const input = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues }) } };
  const { run } = nativeTool({ ...named, input, inputJsonSchema: { type: 'object' } }, () => 1);
  const faults = (await failureOf(() => run({}, {}))).failure.details?.['faults'] as {
    path: string;
    message: string;
  }[];
  expect(faults).toHaveLength(20);
  expect(faults[0]).toMatchObject({ path: '/a~1b/Symbol(s)/0', message: 'x'.repeat(500) });
});
