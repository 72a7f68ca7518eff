import { expect, test } from 'vitest';
import { hideSecrets } from './hide-secrets.ts';

const hide = hideSecrets(
  new Map([
    ['KEY', 'p"ss/wörd 1'],
    ['PIN', '12345'],
  ]),
);

test('a secret is hidden as it stands, in base64, in a URL and with JSON escapes', () => {
  const forms = [
    'p"ss/wörd 1',
    Buffer.from('p"ss/wörd 1').toString('base64'),
    'p%22ss%2Fw%C3%B6rd%201',
    'p\\"ss/wörd 1',
  ];
  for (const form of forms) expect(hide(`<${form}>`)).toBe('<[hidden]>');
});

test('a secret that is too short to tell from other text stays, and so does everything else', () => {
  expect(hide('code 12345, nothing else')).toBe('code 12345, nothing else');
  expect(hideSecrets(new Map())('p"ss/wörd 1')).toBe('p"ss/wörd 1');
});
