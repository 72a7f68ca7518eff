import { expect, test } from 'vitest';
import { extractPaths } from './extract-paths.ts';

const inText = (text: string): string[] => extractPaths(text).map(({ path }) => path);

test.each([
  ['cat /etc/hosts, then src/main.rs; ./foo/bar and ../up.', ['/etc/hosts', 'src/main.rs', './foo/bar', '../up']],
  ['open "/home/a/My File.txt" now', ['/home/a/My File.txt']],
  ["cp 'a/b c' d", ['a/b']],
  ['--out=/tmp/x -I/usr/include (see docs/a.md) [b](./c.md)', ['/tmp/x', '/usr/include', 'docs/a.md', './c.md']],
  [
    '~/notes.md C:\\a\\b.txt ..\\c\\d.e \\\\server\\share\\f',
    ['~/notes.md', 'C:\\a\\b.txt', '..\\c\\d.e', '\\\\server\\share\\f'],
  ],
  ['open(lib/x.ts) >/dev/null', ['lib/x.ts', '/dev/null']],
  ['app/(group)/[slug]/page.tsx /v1/users/{id}', ['app/(group)/[slug]/page.tsx', '/v1/users/{id}']],
  ['file:///etc/hosts', ['/etc/hosts']],
])('MOD-09.1 paths in %j', (text, paths) => expect(inText(text)).toEqual(paths));

test.each([
  ...[
    'http://a.example/b/c',
    'HTTPS://a.example/b.',
    's3://bucket/key',
    'see (https://a.example/b/c)',
    '//cdn.example/a.js',
  ],
  ...[
    'example.com/a/b',
    'www.example/a',
    'git@host.example:org/repo.git',
    'data:text/plain;base64,aa/bb',
    'mailto:a/b@c.example',
  ],
  ...['and/or', '1/2', '01/02/2026', 'application/json', 'text/html; charset=utf-8', '</div><br/>', 'km/h', 'no path'],
])('MOD-09.2 none in %j', (text) => expect(inText(text)).toEqual([]));

test('MOD-09.1 MOD-09.2 each path with its place, absolute or relative', () => {
  expect(
    extractPaths({ path: 'a.toml', 'x/y': ['see /b', { fileName: 'My Notes.md', url: 'https://c.example/d' }] }),
  ).toEqual([
    { path: 'a.toml', absolute: false, at: '/path' },
    { path: 'x/y', absolute: false, at: '/x~1y' },
    { path: '/b', absolute: true, at: '/x~1y/0' },
    { path: 'My Notes.md', absolute: false, at: '/x~1y/1/fileName' },
  ]);
  expect(extractPaths({ file: 'https://a.example/b' })).toEqual([]);
  expect(extractPaths(['/a', '/a'])).toHaveLength(2);
  expect(extractPaths('/a /a')).toHaveLength(1);
});

test('what is too much is left out, and nothing takes more than its length', () => {
  expect(extractPaths(Array.from({ length: 2000 }, (_, at) => `/a/${at}`))).toHaveLength(1000);
  let deep: unknown = '/a';
  for (let depth = 0; depth < 100; depth += 1) deep = [deep];
  expect(extractPaths(deep)).toEqual([]);
  for (const text of [
    '('.repeat(300_000),
    '/'.repeat(300_000),
    "'".repeat(300_000),
    'a.'.repeat(150_000),
    '\\'.repeat(300_000),
  ]) {
    expect(extractPaths(`${text}/`).length).toBeLessThan(2);
  }
  expect(extractPaths([null, 1, true, undefined])).toEqual([]);
});
