import type { Sanitiser, Threat, ValueFinding } from '@sallyport/guards';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ArgumentContent } from '../../../../api/schemas/tool-manifest.ts';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import { manifest } from '../../pipeline.fixture.ts';
import { argumentsRefused, attackRefused, shownFindings } from './argument-failures.ts';
import { fitResult } from './fit-result.ts';
import { markResult } from './mark-result.ts';
import { isCarried, sanitiseArguments } from './sanitise-arguments.ts';
import type { ValueRules } from './value-rules.ts';

const fault = (path: string, code = 'E3507', more: object = {}) =>
  ({ path, code, keyword: 'type', message: 'is wrong', ...more }) as Fault;
const finding = (path: string, threat: Threat = 'xss', action = 'mark') =>
  ({ threat, rule: 'r', path, action, start: 1, end: 2, text: 'secret' }) as unknown as ValueFinding;
const shown = (path: string, threat: Threat = 'xss', action = 'mark') => ({
  threat,
  rule: 'r',
  path,
  action,
  start: 1,
  end: 2,
});
const many = (count: number) => Array.from({ length: count }, (_, at) => finding(`/${at}`));

describe('the refusal of arguments', () => {
  test.each([
    [[fault('/a', 'E3502')], 'E3502', 'One argument has a fault: /a is wrong'],
    [[fault('', 'E3801')], 'E3801', 'One argument has a fault: the arguments is wrong'],
    [[fault('/a')], 'E3509', 'One argument has a fault: /a is wrong'],
    [[fault('/a', 'E3502'), fault('/b', 'E3801')], 'E3509', '2 faults in the arguments: /a is wrong; /b is wrong'],
    [[], 'E3509', '0 faults in the arguments: '],
    [
      ['/a', '/b', '/c'].map((path) => fault(path, 'E3502')),
      'E3502',
      '3 faults in the arguments: /a is wrong; /b is wrong; /c is wrong',
    ],
    [
      ['/a', '/b', '/c', '/d'].map((path) => fault(path)),
      'E3509',
      '4 faults in the arguments: /a is wrong; /b is wrong; /c is wrong; and 1 more',
    ],
    [
      [fault('/a', 'E3507', { hint: 'Give a number.' })],
      'E3509',
      'One argument has a fault: /a is wrong (Give a number.)',
    ],
  ])('VAL-01.5 of %j is %s', (faults, code, message) => {
    expect(argumentsRefused(faults)).toMatchObject({ code, message, details: { faults } });
  });

  test('VAL-01.5 quotes no more of a fault than fits a line', () => {
    const of = (length: number) => argumentsRefused([fault('', 'E3507', { message: 'x'.repeat(length) })]).message;
    const words = (length: number) => of(length).replace('One argument has a fault: ', '');
    expect([words(226).length, words(226).at(-1), words(227).length, words(227).at(-1)]).toEqual([240, 'x', 241, '…']);
  });

  test.each([
    ['sql_injection', 'E3503', 'an SQL injection'],
    ['xss', 'E3504', 'cross-site scripting'],
    ['command_injection', 'E3505', 'a command injection'],
  ] as const)('VAL-04 of %s is %s, with place and rule, and without the text', (threat, code, what) => {
    const worst = finding('/a', threat);
    const own = attackRefused([worst], worst, 'arguments');
    expect(own).toMatchObject({ code, details: { findings: [shown('/a', threat)] } });
    expect(own.message).toContain(`The argument at /a looks like ${what} (rule r). Give a plain value`);
    expect(attackRefused([], finding('', threat), 'result').message).toBe(
      `The result looks like ${what} (rule r). Tell the owner of the tool.`,
    );
    expect(JSON.stringify(own)).not.toContain('secret');
  });

  test('VAL-04 shows 20 findings', () => expect(shownFindings(many(21))).toHaveLength(20));
});

describe('VAL-04 arguments in which something was found', () => {
  const schema = createSchemaValidator().compile({ type: 'object', properties: { a: { maxLength: 3 } } });
  const safe = (found: ReturnType<Sanitiser['check']>, kind: 'native' | 'mcp' = 'native') => {
    const warnings: Warning[] = [];
    const argumentSanitiser = { check: () => found } as unknown as Sanitiser;
    const rules = { argumentSanitiser, judgeContent: false };
    const tool = manifest('t', { executor: { kind } });
    return { warnings, made: sanitiseArguments(rules, schema as never, tool, { a: 'in' }, warnings) };
  };
  const check = (findings: ValueFinding[], value: unknown = { a: 'out' }) =>
    ({ value, findings, rejected: undefined }) as unknown as ReturnType<Sanitiser['check']>;

  test('say which places were changed and which were only marked, the first finding of each threat there', () => {
    const changed = finding('/a', 'xss', 'escape');
    const { made, warnings } = safe(
      check([finding('/b'), finding('/b'), finding('/b', 'sql_injection'), finding('/c'), changed]),
    );
    expect(made).toEqual({ parameters: { a: 'out' }, findings: ['sql_injection', 'xss'] });
    expect(warnings).toEqual([
      {
        code: 'arguments_sanitised',
        message: 'One place in the arguments looked like an attack and was made harmless.',
        details: { findings: [shown('/a', 'xss', 'escape')] },
      },
      {
        code: 'arguments_marked',
        message: '2 places in the arguments looked like an attack. The tool got the arguments as they were given.',
        details: { findings: [shown('/b'), shown('/b', 'sql_injection'), shown('/c')] },
      },
    ]);
  });

  test('are refused where the changed ones fit no more, and have no warning where none was found', () => {
    const { made, warnings } = safe(check([finding('/a', 'xss', 'escape')], { a: 'too long' }));
    expect(made).toMatchObject({ code: 'E3504', details: { faults: [{ path: '/a' }], findings: [{ path: '/a' }] } });
    expect(warnings).toHaveLength(1);
    expect(safe(check([]))).toEqual({ made: { parameters: { a: 'in' }, findings: [] }, warnings: [] });
    expect(safe(check([finding('/a')], { a: 'in' })).warnings.map(({ code }) => code)).toEqual(['arguments_marked']);
  });

  test.each<[ArgumentContent, boolean]>([
    ['fragment', false],
    ['page', false],
    ['text', true],
    ['sql', true],
    ['raw', true],
  ])('a place that holds %s reaches the tool unchanged: %s', (content, carried) => {
    const tool = manifest('t', { execution_config: { argument_content: { '/n': content } } });
    expect([isCarried(tool, '/n'), isCarried(tool, '/n')]).toEqual([carried, carried]);
  });

  test.each<[ArgumentContent, boolean, Record<Threat, unknown>]>([
    ['fragment', false, { sql_injection: undefined, xss: undefined, command_injection: undefined }],
    ['page', false, { sql_injection: undefined, xss: 'escape', command_injection: undefined }],
    ['text', false, { sql_injection: 'mark', xss: 'mark', command_injection: 'mark' }],
    ['text', true, { sql_injection: undefined, xss: undefined, command_injection: undefined }],
    ['sql', false, { sql_injection: 'ignore', xss: 'mark', command_injection: 'mark' }],
    ['sql', true, { sql_injection: 'ignore', xss: undefined, command_injection: undefined }],
    ['html', false, { sql_injection: 'mark', xss: 'ignore', command_injection: 'mark' }],
    ['command', false, { sql_injection: 'mark', xss: 'mark', command_injection: 'ignore' }],
    ['code', false, { sql_injection: 'ignore', xss: 'ignore', command_injection: 'ignore' }],
  ])(
    'VAL-04.6 at a place that holds %s, judged strictly: %s, are treated by threat',
    (content, judgeContent, expected) => {
      const treated: Record<string, unknown> = {};
      const argumentSanitiser = {
        check: (value: unknown, { actionAt }: { actionAt: (path: string, threat: Threat) => unknown }) => {
          for (const threat of Object.keys(expected)) treated[threat] = actionAt('/n', threat as Threat);
          return { value, findings: [] };
        },
      } as unknown as Sanitiser;
      const tool = manifest('t', { execution_config: { argument_content: { '/n': content } } });
      sanitiseArguments({ argumentSanitiser, judgeContent }, schema as never, tool, {}, []);
      expect(treated).toEqual(expected);
    },
  );
});

describe('a result', () => {
  const fitted = (rules: Partial<ValueRules>, result: unknown, result_schema?: Record<string, unknown>) => {
    const warnings: Warning[] = [];
    const all = { strict: true, coerceResults: true, resultSchemaRequired: false, ...rules } as ValueRules;
    const described = result_schema === undefined ? {} : { result_schema };
    return { warnings, made: fitResult(createSchemaValidator(), all, described, result, warnings) };
  };
  const numbers = { type: 'array', items: { type: 'integer' } };

  test('VAL-03.1 that does not fit is refused with three places in words, and all of them', () => {
    const { made } = fitted({}, ['a', 'b', 'c', 'd'], numbers);
    expect(made).toMatchObject({ code: 'E3501', details: { faults: [0, 1, 2, 3].map((at) => ({ path: `/${at}` })) } });
    expect(made).toMatchObject({ message: expect.stringMatching(/promises: \/0 .+; \/1 .+; \/2 /) });
    expect(made).not.toMatchObject({ message: expect.stringContaining('/3') });
    expect(fitted({}, 'a', numbers).made).toMatchObject({
      code: 'E3507',
      message: expect.stringContaining('promises: the result '),
    });
    expect(fitted({}, ['a'], { $ref: '#/nowhere' }).made).toHaveProperty('code');
  });

  test('VAL-03.3 passes outside strict mode with at most 20 faults in the warning', () => {
    const letters = Array.from({ length: 21 }, () => 'a');
    const { made, warnings } = fitted({ strict: false }, letters, numbers);
    expect([made, warnings.map(({ code }) => code)]).toEqual([{ result: letters }, ['result_mismatch']]);
    expect(warnings[0]?.details?.['faults']).toHaveLength(20);
  });

  /** The rules of an operator who takes out what is found. */
  const rules = (more: Partial<Record<keyof ValueRules, unknown>>) =>
    ({ scanOutput: async () => ({ tainted: false }), markResultsOnly: true, ...more }) as unknown as ValueRules;
  const marked = async (more: Parameters<typeof rules>[0]) => {
    const warnings: Warning[] = [];
    return { made: await markResult(rules(more), 'in', warnings, async () => undefined), warnings };
  };

  test('MOD-06.4 VAL-04 is looked at for attacks, then redacted, then read for instructions, with 20 places each', async () => {
    const scanned: unknown[] = [];
    const looked: unknown[] = [];
    const { made, warnings } = await marked({
      resultSanitiser: {
        find: async (result: unknown) => {
          looked.push(result);
          return { findings: many(21), complete: false };
        },
      },
      resultRedactor: {
        value: () => ({ value: 'out', findings: many(21).map((each) => ({ ...each, kind: 'key' })) }),
      },
      scanOutput: async (result: unknown) => {
        scanned.push(result);
        await new Promise((resolve) => setImmediate(resolve));
        return { tainted: true, findings: many(21), complete: true };
      },
    });
    expect([made, looked, scanned]).toEqual([{ result: 'out' }, ['in'], ['out']]);
    expect(warnings.map(({ code, details }) => [code, details?.['complete'], details?.['findings']])).toEqual([
      ['result_suspicious', false, many(20).map(({ path }) => shown(path))],
      ['result_redacted', undefined, many(20).map(({ path }) => ({ kind: 'key', rule: 'r', path }))],
      ['tainted_result', true, many(20)],
    ]);
  });

  test('VAL-04 in which nothing is found stays as it is, and one is changed or refused only where the operator wants it', async () => {
    const nothing = { resultRedactor: { value: () => ({ value: 'out', findings: [] }) } };
    const clean = {
      find: async () => ({ findings: [], complete: true }),
      check: () => ({ value: 'out', findings: [] }),
    };
    for (const more of [
      nothing,
      { resultSanitiser: clean },
      { resultSanitiser: clean, markResultsOnly: false },
      { markResultsOnly: false },
    ])
      expect(await marked(more)).toEqual({ made: { result: 'in' }, warnings: [] });
    const found = { value: 'out', findings: [finding('/a')] };
    const changing = { markResultsOnly: false, resultSanitiser: { check: () => found } };
    expect(await marked(changing)).toMatchObject({
      made: { result: 'out' },
      warnings: [{ code: 'result_sanitised', details: { findings: [shown('/a')] } }],
    });
    const refusing = { ...changing, resultSanitiser: { check: () => ({ ...found, rejected: finding('/a') }) } };
    expect(await marked(refusing)).toMatchObject({ made: { code: 'E3504' }, warnings: [] });
  });
});
