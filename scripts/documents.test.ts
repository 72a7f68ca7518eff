import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '@sallyport/std/error/catalogue';
import { Ajv } from 'ajv';
import { parse, stringify } from 'smol-toml';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../packages/sallyport/src/compose/read-settings.ts';
import { SETTINGS } from '../packages/sallyport/src/compose/settings.ts';
import {
  commandsDocument,
  errorsDocument,
  lifecycleDocument,
  operationsDocument,
  settingsDocument,
} from './documents.ts';
import { settingsSchema } from './settings-schema.ts';

/** Rows of the table in a document, without the header. */
const rowsOf = (markdown: string): string[] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);

test('the error table has one row for each code, in order', () => {
  const rows = rowsOf(errorsDocument());
  expect(rows.map((row) => row.slice(2, 7))).toEqual(Object.keys(ERRORS));
  expect(rows).toContain(
    '| E3303 | `rate_limit_exceeded` | RateLimited | ResourceError | 429 | 8 | result | yes |  | a rate limit is spent |',
  );
});

test('the lifecycle table says what may follow', () => {
  expect(rowsOf(lifecycleDocument())).toContain('| ABORTED | ROLLED_BACK | yes | `error` |');
});

test('the operations table marks members that may be left out', () => {
  const row = rowsOf(operationsDocument()).find((line) => line.includes('`invocations.cancel`'));
  expect(row).toContain('| `invocation_id`, [`own`], [`agent_context`], [`reason`] |');
});

test('API-05 the table of commands has each with its arguments and options, and leaves the rest of the document', () => {
  const begin = '<!-- Written by `npm run generate` from the program, until the end of the table. -->';
  const document = commandsDocument(`# A\n\n${begin}\nwhat stood there\n<!-- End of the table. -->\n\nB\n`);
  expect(document).toMatch(/^# A\n.*\nB\n$/s);
  expect(document).not.toContain('what stood there');
  expect(rowsOf(document)).toContain(
    '| `calls cancel <invocation-id> [--own] [--reason <text>]` | end a call, whichever instance runs it |',
  );
  expect(commandsDocument(document)).toBe(document);
});

test('the settings table shows defaults as they are written, and escapes what would break it', () => {
  const rows = rowsOf(
    settingsDocument([
      { key: 'a.b', type: 'integer', minimum: 1, unit: 'ms', default: 7070, sentence: 'a | b' },
      { key: 'c', type: 'string', oneOf: ['x', 'y'], default: 'x', sentence: 'd' },
      { key: 'd', type: 'number', minimum: 0, maximum: 1, default: 0.5, sentence: 'e' },
    ]),
  );
  expect(rows).toEqual([
    '| `a.b` | `SALLYPORT_A_B` | integer ≥ 1 | ms | `7070` | a \\| b |',
    '| `c` | `SALLYPORT_C` | `x`, `y` |  | `"x"` | d |',
    '| `d` | `SALLYPORT_D` | number ≥ 0, ≤ 1 |  | `0.5` | e |',
  ]);
});

/** The errors of the settings schema for a TOML text, each with its place. */
function schemaFaults(toml: string): string[] {
  const validate = new Ajv({ strict: true, allErrors: true }).compile(settingsSchema(SETTINGS));
  validate(parse(toml));
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
}

/** A settings file with every setting at its default. */
function everySetting(): string {
  const file: Record<string, unknown> = {};
  for (const { key, default: value } of SETTINGS) {
    const [table, name] = key.split('.');
    if (table === undefined || name === undefined) file[key] = value;
    else file[table] = { ...(file[table] as object | undefined), [name]: value };
  }
  return stringify(file);
}

test('OPS-01.5 the schema of the settings file takes a file with every setting, which the layer takes too', () => {
  const toml = everySetting();
  expect(schemaFaults(toml)).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-schema-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sallyport.toml');
  writeFileSync(file, toml);
  const defaults = Object.fromEntries(SETTINGS.map((row) => [row.key, row.default]));
  expect(readSettings({ file, environment: {} })).toEqual(defaults);
});

test.each([
  ['[server]\nprot = 1', '/server additionalProperties'],
  ['[servr]\nport = 1', ' additionalProperties'],
  ['data_foldr = "x"', ' additionalProperties'],
  ['[server]\nport = "1"', '/server/port type'],
  ['[server]\nport = 1.5', '/server/port type'],
  ['[server]\nport = -1', '/server/port minimum'],
  ['[server]\nport = 65536', '/server/port maximum'],
  ['[log]\nlevel = "loud"', '/log/level enum'],
  ['[audit]\njsonl = 1', '/audit/jsonl type'],
  ['[tokens]\nissuers = "x"', '/tokens/issuers type'],
  ['[approvals]\nclient_reasons = ["trust", "mood"]', '/approvals/client_reasons/1 enum'],
])('OPS-01.5 the schema of the settings file refuses %j', (toml, fault) => {
  expect(schemaFaults(toml)).toEqual([fault]);
});
