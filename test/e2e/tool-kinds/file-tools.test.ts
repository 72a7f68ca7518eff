import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileToolManifests, LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

let open: OpenLayer;
let project: string;
beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-project-')));
  await mkdir(join(project, 'src'));
  await writeFile(join(project, 'src', 'a.ts'), 'const one = 1;\n');
  await writeFile(join(project, '.env'), 'KEY=hidden\n');
  await symlink('/etc', join(project, 'out'));
  open = await openLayer({ 'agent.mounts': [`${project}:rw`], 'agent.allowed_hosts': [] });
  for (const manifest of fileToolManifests([{ path: project, mode: 'rw' }])) {
    await open.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  }
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await rm(project, { recursive: true });
});

const call = async (tool_id: string, parameters: Record<string, unknown>, mode: 'ro' | 'rw' = 'rw') => {
  const { capability_token: token } = await open.layer.mintToken({ paths: [project], mode });
  return open.layer.invoke({ tool_id, parameters }, { token });
};

test('EXE-04.1 an agent reads, edits and searches files of its folder through the whole layer', async () => {
  expect(await call('file_read', { path: 'src/a.ts' })).toMatchObject({
    status: 'success',
    result: { content: 'const one = 1;\n' },
  });
  const edit = { path: 'src/a.ts', old_string: 'one = 1', new_string: "one = '1; DROP TABLE x; --'" };
  expect(await call('file_edit', edit)).toMatchObject({ status: 'success' });
  expect(await readFile(join(project, 'src', 'a.ts'), 'utf8')).toBe("const one = '1; DROP TABLE x; --';\n");
  expect(await call('file_grep', { pattern: 'DROP' })).toMatchObject({ status: 'success' });
});

test('EXE-04.2 what lies outside, behind a link, is denied by a glob or only readable is refused', async () => {
  const codes = await Promise.all([
    call('file_read', { path: '/etc/hostname' }),
    call('file_read', { path: 'out/hostname' }),
    call('file_read', { path: '../x' }),
    call('file_read', { path: '.env' }),
    call('file_write', { path: 'b.txt', content: 'x' }, 'ro'),
  ]);
  expect(codes.map(({ status }) => status)).toEqual(codes.map(() => 'permission_denied'));
  expect(JSON.stringify(codes)).not.toContain('hidden');
});
