import { expect, test } from 'vitest';
import { withoutPaths } from './without-paths.ts';

const wordsOf = (request: string): string => withoutPaths(request).replace(/\s+/g, ' ').trim();

test.each([
  ['translate /home/ann/weather/report.pdf', 'translate pdf'],
  ['show ./src/mail/send.ts and ~/notes', 'show ts and'],
  ['open C:\\Users\\ann\\calendar.xlsx', 'open xlsx'],
  ['summarise weather_report.docx, please', 'summarise docx, please'],
  ['fetch https://mail.example.org/send?x=1 now', 'fetch now'],
  ['count lines in packages/server/currency/rates.csv', 'count lines in csv'],
  ['delete photos/2024/', 'delete'],
])('REG-05 words of paths and files do not steer: %s', (request, expected) => {
  expect(wordsOf(request)).toBe(expected);
});

test.each([
  'set up CI/CD with TCP/IP and/or a proxy',
  'search in Node.js and Vue.js packages',
  'what is 3.5 percent of 20? e.g. as a number',
  'github__create_issue',
  '/home/ann/weather/report.pdf',
  'report.pdf',
  '../../..',
])('REG-05 a request without a path, or of nothing else, stays: %s', (request) => {
  expect(withoutPaths(request)).toBe(request);
});

test('VAL-05 a long row of slashes ends', () => {
  for (const piece of ['/', 'a/', 'a.', '~/', 'a:\\', '://', './', 'é/'])
    expect(withoutPaths(piece.repeat(20_000)).length).toBeGreaterThanOrEqual(0);
});
