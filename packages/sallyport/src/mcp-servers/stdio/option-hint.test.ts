import { expect, test } from 'vitest';
import { optionHint } from './option-hint.ts';

test.each([
  ["Error: ENOENT: no such file or directory, stat '/home/ada/notes'", '--mount /home/ada/notes '],
  [
    "Error accessing directory /srv/data: Error: ENOENT: no such file or directory, stat '/srv/data'",
    '--mount /srv/data ',
  ],
  ["PermissionError: [Errno 13] Permission denied: '/srv/data/x.db'", '--mount /srv/data/x.db:rw'],
  ['getaddrinfo ENOTFOUND api.example.com', '--network api.example.com:443'],
  ['connect ECONNREFUSED 127.0.0.1:5432', '--network 127.0.0.1:5432'],
  ["HTTPSConnectionPool(host='api.example.com', port=8443): Max retries exceeded", '--network api.example.com:8443'],
  ['BRAVE_API_KEY environment variable is required', '--env BRAVE_API_KEY=VALUE'],
  ['Error: Missing required environment variable: GITHUB_TOKEN', '--env GITHUB_TOKEN=VALUE'],
])('EXE-07 the end of a server says which option it lacks: %s', (words, option) => {
  expect(optionHint(words)).toContain(option);
});

test('EXE-07 an end that has another cause is told without advice', () => {
  expect(optionHint("SyntaxError: Unexpected token '}'")).toBe('');
  expect(optionHint('')).toBe('');
});
