import { expect, test } from 'vitest';
import { checkPath } from './check-path.ts';

const ROOTS = ['/project', '/data/'];

test.each([
  ['a/b.txt', '/project/a/b.txt'],
  ['/project/', '/project'],
  ['/project/a/../b//c/.', '/project/b/c'],
  ['/data/x', '/data/x'],
  ['//project/x', '/project/x'],
  ['50% off.txt', '/project/50% off.txt'],
  ['a%20b', '/project/a%20b'],
  ['Bericht….pdf', '/project/Bericht….pdf'],
  ['日本/語', '/project/日本/語'],
  ['.env.example', '/project/.env.example'],
  ['src/routes/$id.tsx', '/project/src/routes/$id.tsx'],
  ['.git/HEAD', '/project/.git/HEAD'],
])('%s may be touched', (path, normal) => expect(checkPath(path, ROOTS)).toEqual({ allowed: true, normal }));

test.each([
  ...[
    '/',
    '/etc/passwd',
    '../x',
    'a/../../x',
    '/project/../etc/x',
    '/projectx',
    '/project/../project2/x',
    '//etc/passwd',
  ],
  ...['%2e%2e/x', 'a%2fb', '%252e%252e/x', '%25252e/x', '..%c0%afx', '%c0%ae%c0%ae/x', '%u002e./x', 'a%00'],
  ...['a\\..\\b', '\\\\server\\x', 'C:/x', 'c:', 'a\u0000', 'a\nb', '\ud800', '', 'a'.repeat(4097)],
  ...['~/x', '~root/x', '$HOME/x', `\${HOME}/x`, '$(x)/y', 'file:///project/x', 'https://project/x'],
  ...['a∕b', 'a／b', '．．/x', '‥/x', '.\u200b./x', '.. /x', '.../x'],
])('EXE-04 %j is refused', (path) => {
  const { allowed, why } = checkPath(path, ROOTS);
  expect([allowed, why]).toEqual([false, expect.stringMatching(/\.$/)]);
});

test.each([
  ...['.env', '.ENV', 'a/.env.local', '.env.', '.env ', 'a/secrets/b', 'secrets', '.git/config', '.git/hooks/pre-push'],
  ...['.ssh/id_ed25519', '.aws/credentials', 'x/server.key', 'cert.pem', '.npmrc', '.bash_history'],
])('EXE-04 %s may hold secrets', (path) => expect(checkPath(path, ROOTS).allowed).toBe(false));

test('EXE-04 what is denied wins over what is allowed, and lists replace the usual ones', () => {
  const policy = { deny: ['**/private/**', '/project/*.tmp'], allow: ['**/*.md', '/project/private/**'] };
  const allowed = (path: string): boolean => checkPath(path, ROOTS, policy).allowed;
  expect(allowed('a/b.md')).toBe(true);
  expect(allowed('a/B.MD')).toBe(true);
  expect(allowed('a/b.txt')).toBe(false);
  expect(allowed('private/a.md')).toBe(false);
  expect(allowed('a/x.tmp')).toBe(false);
  expect(checkPath('.env', ROOTS, { deny: [] }).allowed).toBe(true);
});

test('relative paths start at the base, which need not be a root', () => {
  expect(checkPath('x', ROOTS, { base: '/data/in' }).normal).toBe('/data/in/x');
  expect(checkPath('x', ROOTS, { base: '/elsewhere' }).allowed).toBe(false);
  expect(checkPath('x', ROOTS, { base: 'work' }).allowed).toBe(false);
  expect(checkPath('x', []).allowed).toBe(false);
  expect(checkPath('x', ['work']).allowed).toBe(false);
});

test('devices and processes are no files, even below /', () => {
  expect(checkPath('/etc/hosts', ['/']).allowed).toBe(true);
  const throughProcess = ['root', 'cwd', 'fd', 'map_files', 'task'].map((door) => `/proc/self/${door}/etc/hosts`);
  for (const path of ['/dev/sda', '/sys/kernel', '/proc/1/status', '/etc/shadow', ...throughProcess]) {
    expect([path, checkPath(path, ['/']).allowed]).toEqual([path, false]);
  }
  expect(checkPath('/dev/shm/x', ['/dev/shm']).allowed).toBe(true);
  expect(checkPath('/dev/sda', ['/', '/dev/shm']).allowed).toBe(false);
  expect(checkPath('/proc/self/environ', ['/proc']).allowed).toBe(false);
});

test('a path of nothing but separators and dots takes no time that counts', () => {
  expect(checkPath('../'.repeat(1300), ROOTS).allowed).toBe(false);
  expect(checkPath('a/'.repeat(2000), ROOTS, { deny: ['**/a/**/a/**/a/**/b'] }).allowed).toBe(true);
});
