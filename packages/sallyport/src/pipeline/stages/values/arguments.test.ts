import { createSanitiser } from '@sallyport/guards';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ArgumentContent, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { decisionsOf } from '../../../permission/gates/gates.fixture.ts';
import { type CompiledSchema, createSchemaValidator } from '../../../validation/schema-validator.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { validate } from '../validate.ts';
import { sanitiseArguments } from './sanitise-arguments.ts';
import type { ValueRules } from './value-rules.ts';

const schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    day: { type: 'string', format: 'date' },
    text: { type: 'string', maxLength: 200 },
    query: { type: 'string', 'x-content': 'sql' },
    script: { type: 'string' },
    name: { type: 'string', maxLength: 200 },
  },
  additionalProperties: false,
};
const ATTACK = "' OR '1'='1' --";
const MARKUP = '<script>alert(1)</script>';
const ESC = String.fromCharCode(0x1b);

/** A tool that returns the arguments that reached it. */
async function called(
  parameters: Record<string, unknown>,
  values: Partial<ValueRules> = {},
  more: Partial<ToolManifest> = {},
): Promise<InvocationRecord> {
  const { add, call } = await pipeline({ values });
  await add(manifest('echo', { parameters_schema: schema, ...more }), (given) => given);
  return call({ tool_id: 'echo', parameters });
}

const faultsOf = (record: InvocationRecord): Fault[] => record.failure?.details?.['faults'] as Fault[];

describe('arguments that do not fit', () => {
  test('VAL-02.5 end with E3502 when only conversions failed, with E3509 otherwise', async () => {
    const unconverted = await called({ n: '12abc', day: '05/01/2026' });
    expect(unconverted.failure?.code).toBe('E3502');
    expect(
      faultsOf(unconverted)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/day', '/n']);
    expect((await called({ n: '12abc', other: 1 })).failure?.code).toBe('E3509');
  });

  test('VAL-02.2 VAL-02.3 are converted, unless nobody wants that', async () => {
    const parameters = { n: '12', day: '5 Jan 2026' };
    expect((await called(parameters)).result).toEqual({ n: 12, day: '2026-01-05' });
    const strict = await called(parameters, { coerceArguments: false });
    expect(strict.failure?.code).toBe('E3509');
    expect(
      faultsOf(strict)
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['E3501', 'E3507']);
  });

  test('VAL-01.1 are refused before any policy is asked', async () => {
    let asked = 0;
    const engine = {
      name: 'e',
      version: () => '1',
      decide: () => {
        asked += 1;
        return { allowed: false, policies: ['no'] };
      },
    };
    const { add, call } = await pipeline({ policy: decisionsOf(engine) });
    await add(manifest('echo', { parameters_schema: schema }), (given) => given);
    expect((await call({ tool_id: 'echo', parameters: { n: 'x' } })).failure?.code).toBe('E3502');
    expect(asked).toBe(0);
    expect((await call({ tool_id: 'echo', parameters: { n: 1 } })).failure?.code).toBe('E3210');
    expect(asked).toBe(1);
  });

  test('VAL-01.5 name three faults in the message and all in the details', async () => {
    const record = await called({ a: 1, b: 1, c: 1, d: 1, [`long${'g'.repeat(500)}`]: 1 });
    expect(record.failure?.message).toContain('5 faults');
    expect(record.failure?.message).toContain('and 2 more');
    expect(record.failure?.message.length).toBeLessThan(1000);
    expect(faultsOf(record)).toHaveLength(5);
  });
});

describe('VAL-06 control characters in arguments', () => {
  test('VAL-06.1 are refused with their place, taken out, or let through, as the setting says', async () => {
    const parameters = { name: `red ${ESC}[31m` };
    const refused = await called(parameters);
    expect(refused.failure?.code).toBe('E3801');
    expect(faultsOf(refused)).toMatchObject([{ path: '/name' }]);
    expect((await called(parameters, { controlCharacters: 'strip' })).result).toEqual({ name: 'red [31m' });
    expect((await called(parameters, { controlCharacters: 'allow' })).result).toEqual(parameters);
  });

  test('pass where the manifest says that anything may stand, and in content', async () => {
    const raw = { execution_config: { argument_content: { '/name': 'raw' as const } } };
    const record = await called({ name: ESC, text: ESC }, { controlCharacters: 'strip' }, raw);
    expect(record.result).toEqual({ name: ESC, text: ESC });
    expect((await called({ name: ESC, script: ESC })).failure?.code).toBe('E3801');
  });
});

describe('VAL-04 arguments that look like an attack', () => {
  const argumentSanitiser = createSanitiser({ actions: { xss: 'reject' } });
  const sanitised = { argumentSanitiser };
  const says = (place: string, content: ArgumentContent): Partial<ToolManifest> => ({
    execution_config: { argument_content: { [place]: content } },
  });

  test('VAL-04.1 VAL-04.2 are refused with place and rule, and without the text', async () => {
    const record = await called({ name: ATTACK }, sanitised);
    expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3503' } });
    expect(record.failure?.message).toMatch(/at \/name .*rule \w+/);
    expect(record.failure?.details?.['findings']).toMatchObject({ 0: { path: '/name', threat: 'sql_injection' } });
    expect(JSON.stringify(record.failure)).not.toContain("'1'");
    expect((await called({ name: MARKUP }, sanitised)).failure?.code).toBe('E3504');
  });

  test('VAL-04.6 reach the tool as they were given where they are content, with a warning', async () => {
    const given = { text: `Hello ${MARKUP}`, script: ATTACK };
    const record = await called(given, sanitised);
    expect(record.result).toEqual(given);
    expect(record.warnings).toMatchObject([
      {
        code: 'arguments_marked',
        details: { findings: [{ path: '/text', threat: 'xss', action: 'mark' }, { path: '/script' }] },
      },
    ]);
    expect(JSON.stringify(record.warnings)).not.toContain("'1'");
  });

  test('are content in tools of upstreams, whatever their schema says, unless the operator says otherwise', () => {
    const theirs = { type: 'object', properties: { name: { type: 'string', 'x-content': 'page' } } };
    const foreign: Partial<ToolManifest> = { parameters_schema: theirs, executor: { kind: 'mcp', config: {} } };
    const tool = manifest('their__tool', { ...foreign, ...says('/sql', 'fragment') });
    const compiled = createSchemaValidator().compile(theirs) as CompiledSchema;
    const warnings: Warning[] = [];
    const judged = (parameters: Record<string, unknown>) =>
      sanitiseArguments({ argumentSanitiser, judgeContent: false }, compiled, tool, parameters, warnings);
    expect(judged({ name: MARKUP, id: ATTACK })).toEqual({
      parameters: { name: MARKUP, id: ATTACK },
      findings: ['sql_injection', 'xss'],
    });
    expect(warnings).toHaveLength(1);
    expect(judged({ sql: ATTACK })).toMatchObject({ code: 'E3503' });
  });

  test('are judged as all others when the operator wants that of content', async () => {
    expect((await called({ text: MARKUP }, { ...sanitised, judgeContent: true })).failure?.code).toBe('E3504');
    expect((await called({ query: ATTACK }, { ...sanitised, judgeContent: true })).state).toBe('COMPLETED');
  });

  test('are escaped, with a warning, only in what the manifest calls a page', async () => {
    const record = await called({ text: `Hello ${MARKUP}` }, sanitised, says('/text', 'page'));
    expect(record.warnings).toMatchObject([{ code: 'arguments_sanitised' }]);
    expect((record.result as { text: string }).text).not.toContain('<script>');
    expect((await called({ text: ATTACK }, sanitised, says('/text', 'page'))).failure?.code).toBe('E3503');
  });

  test('fail when what is made harmless no longer fits the schema', async () => {
    const short = { ...schema, properties: { text: { type: 'string', maxLength: MARKUP.length } } };
    const record = await called({ text: MARKUP }, sanitised, { ...says('/text', 'page'), parameters_schema: short });
    expect(record.failure?.code).toBe('E3504');
    expect(faultsOf(record)).toMatchObject([{ path: '/text', keyword: 'maxLength' }]);
  });

  test('pass unmarked where the owner of the tool expects them, and nowhere else', async () => {
    const record = await called({ query: ATTACK }, sanitised);
    expect(record).toMatchObject({ state: 'COMPLETED', warnings: [] });
    expect((await called({ name: MARKUP }, sanitised, says('/name', 'code'))).result).toEqual({ name: MARKUP });
    expect((await called({ query: ATTACK, name: ATTACK }, sanitised)).failure?.code).toBe('E3503');
  });

  test('pass when nobody looks', async () => {
    expect((await called({ name: ATTACK })).state).toBe('COMPLETED');
  });
});

describe('the stage that judges arguments', () => {
  const BEFORE: Warning = { code: 'before', message: 'Noted before.' };

  /** What the stage makes of arguments in a request with these other members. */
  async function judged(
    given: object,
    request: object = {},
    values: Partial<ValueRules> = {},
    more: Partial<ToolManifest> = {},
  ) {
    const { parts } = await pipeline({ values });
    const tool = { manifest: manifest('echo', { parameters_schema: schema, ...more }) };
    const call = { request: { tool_id: 'echo', ...request }, givenParameters: given, tool, warnings: [BEFORE] };
    return validate(parts).run(call as never, {} as never);
  }

  test('VAL-01 passes nothing on to a tool whose schema is none', async () => {
    expect(await judged({ n: 1 }, {}, {}, { parameters_schema: { type: 'nothing' } })).toMatchObject({ failed: true });
  });

  test('VAL-04 adds its warnings to those of earlier stages, also when it refuses the call', async () => {
    const argumentSanitiser = createSanitiser({ actions: { xss: 'reject' } });
    const page: Partial<ToolManifest> = { execution_config: { argument_content: { '/text': 'page' } } };
    expect(await judged({ n: 1 })).toMatchObject({ parameters: { n: 1 }, argumentFindings: [], warnings: [BEFORE] });
    const escaped = await judged({ text: MARKUP }, {}, { argumentSanitiser }, page);
    expect(escaped).toMatchObject({ argumentFindings: ['xss'], warnings: [BEFORE, { code: 'arguments_sanitised' }] });
    const short = { ...schema, properties: { text: { type: 'string', maxLength: MARKUP.length } } };
    const refused = await judged({ text: MARKUP }, {}, { argumentSanitiser }, { ...page, parameters_schema: short });
    expect(refused).toMatchObject({
      refused: { code: 'E3504' },
      established: { warnings: [BEFORE, { code: 'arguments_sanitised' }] },
    });
  });

  test.each<[object, string]>([
    [{}, '{"n":1}'],
    [{ execution_options: { environment: { A: '1' } } }, '[{"n":1},{"A":"1"}]'],
    [{ document_context: { query: 'q' } }, '[{"n":1},null,{"query":"q"}]'],
    [{ checkpoint_config: { resume_from_checkpoint_id: 'c' } }, '[{"n":1},null,null,"c"]'],
    [
      {
        execution_options: { environment: { A: '1' } },
        document_context: { query: 'q' },
        checkpoint_config: { resume_from_checkpoint_id: 'c' },
      },
      '[{"n":1},{"A":"1"},{"query":"q"},"c"]',
    ],
  ])('ORC-05.1 of a request with %j an approval and a key are bound to %s', async (request, bound) => {
    expect(await judged({ n: '1' }, request)).toMatchObject({ parameters: { n: 1 }, inputHash: sha256(bound) });
  });
});
