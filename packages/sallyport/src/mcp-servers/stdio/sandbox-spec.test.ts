import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, expect, test } from 'vitest';
import type { StdioTransport } from '../../../api/schemas/upstream.ts';
import { codeRoots } from './program.ts';
import { sandboxSpecOf, UPSTREAM_LIMITS } from './sandbox-spec.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'spec-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const put = (path: string, text = '', mode = 0o644): string => {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
  return file;
};
const node = realpathSync(process.execPath);
const spec = (transport: Omit<StdioTransport, 'type'>, env: Record<string, string> = {}) =>
  sandboxSpecOf('demo', { type: 'stdio', ...transport }, env, () => undefined, { folderOf: () => root });
const paths = (transport: Omit<StdioTransport, 'type'>) =>
  spec(transport).mounts.map(({ path, mode }) => `${mode} ${path}`);
function refusal(transport: Omit<StdioTransport, 'type'>, env: Record<string, string> = {}): ToolLayerError {
  try {
    spec(transport, env);
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) return thrown;
  }
  throw new Error('it was not refused');
}

test('a script brings the package that it lies in, the cwd is read-only, and nothing else is visible', () => {
  const script = put('project/dist/server.js');
  put('project/package.json', '{}');
  const cwd = join(root, 'work');
  mkdirSync(cwd);
  const made = spec({ command: 'node', args: [script, '--flag'], cwd });
  expect(made.command).toEqual([expect.stringMatching(/\/node$/), script, '--flag']);
  expect(made.workingDirectory).toBe(cwd);
  const own = [node, made.command[0]].map(dirname).filter((path) => !path.startsWith('/usr/'));
  const expected = [join(root, 'project'), cwd, ...new Set(own)].sort();
  expect(made.mounts).toEqual(expected.map((path) => ({ path, mode: 'ro' })));
  expect(made.environment).toMatchObject({ HOME: '/tmp', LANG: 'C.UTF-8' });
  expect(made.network).toEqual([]);
  const { memoryMb, processesMax } = UPSTREAM_LIMITS;
  expect(made.limits).toMatchObject({ memoryMb, processesMax });
  expect(spec({ command: 'node', memory_mb_limit: 64 }).limits.memoryMb).toBe(64);
  expect(spec({ command: 'node' }, { HOME: '/x', A: 'b' }).environment).toMatchObject({ HOME: '/x', A: 'b' });
});

test('a mount says its own mode, also inside a folder that is read-only, and the inner one comes later', () => {
  const cwd = join(root, 'outer');
  const inner = join(cwd, 'inner');
  const innermost = join(inner, 'innermost');
  mkdirSync(innermost, { recursive: true });
  const mounts = [
    { path: innermost, mode: 'ro' as const },
    { path: inner, mode: 'rw' as const },
  ];
  expect(paths({ command: '/bin/cat', cwd, mounts }).filter((path) => path.includes(root))).toEqual([
    `ro ${cwd}`,
    `rw ${inner}`,
    `ro ${innermost}`,
  ]);
  expect(paths({ command: '/bin/cat', cwd, mounts: [{ path: inner, mode: 'ro' }] })).not.toContain(`ro ${inner}`);
});

test('npx runs what is installed: in the cwd, in the folders above, in a fitting version, by its program', () => {
  const modules = join(root, 'npx/node_modules');
  put(
    'npx/node_modules/demo-server/package.json',
    JSON.stringify({ version: '1.2.3', bin: { 'demo-server': 'cli.js', other: 'o.js' } }),
  );
  const cli = put('npx/node_modules/demo-server/cli.js');
  const other = put('npx/node_modules/demo-server/o.js');
  put('npx/node_modules/@scope/one/package.json', JSON.stringify({ version: '0.1.0', bin: { strange: 'x.js' } }));
  const strange = put('npx/node_modules/@scope/one/x.js');
  const cwd = join(root, 'npx/deep/er');
  mkdirSync(cwd, { recursive: true });
  const run = (...args: string[]) => spec({ command: 'npx', args, cwd }).command;
  for (const name of ['demo-server', 'demo-server@latest', 'demo-server@^1.0.0', 'demo-server@1.2.3']) {
    expect(run('-y', name, '--port', '1')).toEqual([node, cli, '--port', '1']);
  }
  expect(run('--yes', '-p', 'demo-server', 'other', '-y')).toEqual([node, other, '-y']);
  expect(run('--package=demo-server', 'other')).toEqual([node, other]);
  expect(run('@scope/one@0.1')).toEqual([node, strange]);
  expect(paths({ command: 'npx', args: ['demo-server'], cwd })).toContain(`ro ${modules}`);
  expect(refusal({ command: 'npx', args: ['demo-server@2'], cwd }).message).toContain('installed only as 1.2.3');
  expect(refusal({ command: 'npx', args: ['-p', 'demo-server', 'nothing'], cwd }).message).toContain(
    'Its programs: demo-server, other',
  );
  const missing = refusal({ command: 'npx', args: ['-y', '@no/such-server@1.0'], cwd });
  expect(missing.code).toBe('E3801');
  expect(missing.message).toContain('npm install --global @no/such-server@1.0');
  expect(refusal({ command: 'npx', args: ['-y'] }).message).toContain('was given no package');
  for (const evil of ['../../etc/passwd', 'git+https://x/y', '/abs', '.']) {
    expect(refusal({ command: 'npx', args: [evil], cwd }).code).toBe('E3801');
  }
});

test('npx finds what its own cache holds', () => {
  put('home/.npm/_npx/abc/node_modules/cached/package.json', JSON.stringify({ version: '1.0.0', bin: 'c.js' }));
  const script = put('home/.npm/_npx/abc/node_modules/cached/c.js');
  const made = spec(
    { command: 'npx', args: ['cached'] },
    { HOME: join(root, 'home'), npm_config_cache: join(root, 'home/.npm') },
  );
  expect(made.command).toEqual([node, script]);
});

test('what is not there is refused with what to change', () => {
  expect(refusal({ command: 'no-such-program-anywhere' }).message).toContain(
    "'no-such-program-anywhere' was not found",
  );
  expect(refusal({ command: 'uvx', args: ['mcp-server-git'] }).message).toContain('a sandbox has no network');
  expect(refusal({ command: '/usr/bin/docker', args: ['run'] }).message).toContain('docker run -p 127.0.0.1');
  expect(refusal({ command: './relative' }).message).toContain('Give an absolute one, or a cwd');
  expect(refusal({ command: 'node', cwd: 'relative' }).message).toContain('not an absolute path');
  expect(refusal({ command: 'node', cwd: join(root, 'absent') }).message).toContain('is not a folder');
  expect(refusal({ command: 'node', cwd: put('file') }).message).toContain('is not a folder');
  expect(refusal({ command: 'node', mounts: [{ path: join(root, 'absent'), mode: 'ro' }] }).code).toBe('E3105');
  expect(refusal({ command: 'node', mounts: [{ path: 'relative', mode: 'ro' }] }).code).toBe('E3801');
  expect(refusal({ command: put('not-executable') }).code).toBe('E3801');
});

test('a relative program is looked up in the cwd, and a program outside brings only itself', () => {
  const program = put('tools/run.sh', '#!/bin/sh\n', 0o755);
  expect(spec({ command: './run.sh', cwd: join(root, 'tools') }).command).toEqual([program]);
  expect(paths({ command: program })).toContain(`ro ${program}`);
  expect(paths({ command: program })).not.toContain(`ro ${join(root, 'tools')}`);
});

test('code never brings a home folder, and a link brings its environment and what it points to', () => {
  const home = join(root, 'user');
  put('user/package.json', '{}');
  const loose = put('user/server.js');
  expect(codeRoots(loose, home)).toEqual([loose]);
  put('venv/pyvenv.cfg');
  const python = put('interpreter/python3', '', 0o755);
  mkdirSync(join(root, 'venv/bin'));
  symlinkSync(python, join(root, 'venv/bin/python3'));
  expect(codeRoots(join(root, 'venv/bin/python3'), home)).toEqual([join(root, 'venv'), python]);
  const modules = put('app/node_modules/.bin/x/../../dep/node_modules/inner/i.js');
  expect(codeRoots(modules, home)).toEqual([join(root, 'app/node_modules')]);
  expect(codeRoots('/usr/bin/env', home)).toEqual([]);
});
