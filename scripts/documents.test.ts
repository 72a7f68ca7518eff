import { ERRORS } from '@sallyport/std/error/catalogue';
import { expect, test } from 'vitest';
import {
  commandsDocument,
  errorsDocument,
  lifecycleDocument,
  operationsDocument,
  settingsDocument,
} from './documents.ts';

/** Rows of the table in a document, without its head. */
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
  expect(row).toContain('| `invocation_id`, [`agent_context`], [`reason`] |');
});

test('API-05 the table of commands has each with its arguments and options, and leaves the rest of the document', () => {
  const begin = '<!-- Written by `npm run generate` from the program, until the end of the table. -->';
  const document = commandsDocument(`# A\n\n${begin}\nwhat stood there\n<!-- End of the table. -->\n\nB\n`);
  expect(document).toMatch(/^# A\n.*\nB\n$/s);
  expect(document).not.toContain('what stood there');
  expect(rowsOf(document)).toContain(
    '| `calls cancel <invocation-id> [--reason <text>]` | end a call, whichever instance runs it |',
  );
  expect(commandsDocument(document)).toBe(document);
});

test('the settings table shows defaults as they are written, and escapes what would break it', () => {
  const rows = rowsOf(
    settingsDocument([
      { key: 'a.b', type: 'integer', minimum: 1, unit: 'ms', default: 7070, sentence: 'a | b' },
      { key: 'c', type: 'string', oneOf: ['x', 'y'], default: 'x', sentence: 'd' },
    ]),
  );
  expect(rows).toEqual([
    '| `a.b` | `SALLYPORT_A_B` | integer ≥ 1 | ms | `7070` | a \\| b |',
    '| `c` | `SALLYPORT_C` | `x`, `y` |  | `"x"` | d |',
  ]);
});
