import { execFileSync } from 'node:child_process';
import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { ERRORS } from '@sallyport/std/error/catalogue';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileBench, openFileBench, USUAL } from '../file-tool.fixture.ts';

describe('confinement to the roots', () => {
  let bench: FileBench;
  beforeEach(async () => {
    bench = await openFileBench();
    await writeFile(join(bench.folder, 'outside.txt'), 'outside');
    await mkdir(join(bench.folder, 'elsewhere'));
    await mkdir(join(bench.root, 'inner/deep'), { recursive: true });
    await writeFile(join(bench.root, 'a.txt'), 'inside');
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const content = async (path: string): Promise<unknown> => (await bench.run('read', { path }))['content'];
  const refused = async (path: string, code = 'E3105'): Promise<void> => {
    await expect(bench.run('read', { path }), path).rejects.toMatchObject({ code });
    await expect(bench.run('write', { path, content: 'x' }), path).rejects.toMatchObject({ code });
  };

  test('EXE-04 a path is relative to the first root, or absolute within any', async () => {
    expect(await content('a.txt')).toBe('inside');
    expect(await content('./inner/../a.txt')).toBe('inside');
    expect(await content(join(bench.root, 'a.txt'))).toBe('inside');
    expect(await content(join('..', basename(bench.root), 'a.txt'))).toBe('inside');
    const filesystem = [
      { path: join(bench.root, 'inner'), mode: 'ro' as const },
      { path: bench.root, mode: 'ro' as const },
    ];
    expect((await bench.run('read', { path: '../a.txt' }, { filesystem }))['content']).toBe('inside');
  });

  test('EXE-04.2 a path that leaves the roots is refused, whatever is there', async () => {
    for (const path of [
      '../outside.txt',
      '../nothing',
      '/etc/hostname',
      '/',
      '..',
      `${bench.root}x`,
      'inner/../../outside.txt',
    ])
      await refused(path);
    await expect(content('a.txt/..')).rejects.toMatchObject({ code: 'E3109' });
    expect(await readFile(join(bench.folder, 'outside.txt'), 'utf8')).toBe('outside');
  });

  test('EXE-04.4 refusals tell no retry to anybody', () => {
    for (const code of ['E3105', 'E3210'] as const) {
      expect(ERRORS[code].retryable).toBe(false);
      expect(ERRORS[code].category).toBe('PolicyBlocked');
    }
  });

  test('EXE-04 links within the roots are followed, those that lead out are refused', async () => {
    const at = (name: string): string => join(bench.root, name);
    await symlink('a.txt', at('near'));
    await symlink('../../a.txt', at('inner/deep/up'));
    await symlink(at('a.txt'), at('absolute'));
    await symlink('inner', at('folder'));
    for (const path of ['near', 'inner/deep/up', 'absolute', 'folder/deep/up', 'folder/../a.txt'])
      expect(await content(path), path).toBe('inside');
    await symlink('../outside.txt', at('out'));
    await symlink(join(bench.folder, 'outside.txt'), at('out-absolute'));
    await symlink('..', at('out-folder'));
    await symlink('out-folder/outside.txt', at('out-twice'));
    await symlink('../elsewhere/new.txt', at('out-dangling'));
    await symlink('/proc/self/cwd', at('out-magic'));
    for (const path of [
      'out',
      'out-absolute',
      'out-folder/outside.txt',
      'out-twice',
      'out-dangling',
      'out-magic/package.json',
    ])
      await refused(path);
    await symlink('loop', at('loop'));
    await refused('loop', 'E3109');
  });

  test('a write through a link within the root changes what it leads to and keeps the link', async () => {
    await symlink('a.txt', join(bench.root, 'near'));
    await symlink('inner/new.txt', join(bench.root, 'dangling'));
    await bench.run('write', { path: 'near', content: 'one' });
    await bench.run('write', { path: 'dangling', content: 'two' });
    expect(await content('a.txt')).toBe('one');
    expect(await content('near')).toBe('one');
    expect(await content('inner/new.txt')).toBe('two');
  });

  test('a root that is reached through a link is refused, since a tool may have made the link', async () => {
    await symlink('..', join(bench.root, 'inner/escape'));
    const filesystem = [{ path: join(bench.root, 'inner/escape'), mode: 'rw' as const }];
    await expect(bench.run('read', { path: 'a.txt' }, { filesystem })).rejects.toMatchObject({ code: 'E3105' });
  });

  test('the nearest root says whether a file may be written', async () => {
    const filesystem = [
      { path: bench.root, mode: 'rw' as const },
      { path: join(bench.root, 'inner'), mode: 'ro' as const },
    ];
    await bench.run('write', { path: 'b.txt', content: 'x' }, { filesystem });
    const inner = bench.run('write', { path: 'inner/b.txt', content: 'x' }, { filesystem });
    await expect(inner).rejects.toMatchObject({ code: 'E3105' });
    const readOnly = [{ path: bench.root, mode: 'ro' as const }];
    const edit = bench.run('edit', { path: 'a.txt', old_string: 'in', new_string: 'x' }, { filesystem: readOnly });
    await expect(edit).rejects.toMatchObject({ code: 'E3105' });
  });

  test('a root may be a single file, to be read', async () => {
    const filesystem = [{ path: join(bench.root, 'a.txt'), mode: 'rw' as const }];
    const path = join(bench.root, 'a.txt');
    expect((await bench.run('read', { path }, { filesystem }))['content']).toBe('inside');
    await expect(bench.run('write', { path, content: 'x' }, { filesystem })).rejects.toMatchObject({ code: 'E3105' });
  });

  test('EXE-04 what is no regular file is refused and never waited for', async () => {
    const server = createServer().listen(join(bench.root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    execFileSync('mkfifo', [join(bench.root, 'fifo')]);
    try {
      await refused('fifo', 'E3109');
      await expect(bench.run('grep', { path: 'fifo', pattern: 'x' })).rejects.toMatchObject({ code: 'E3109' });
      expect(await bench.run('grep', { pattern: 'inside' })).toMatchObject({ files_searched: 1 });
      await refused('socket', 'E3109');
      await refused('inner', 'E3109');
      const devices = [{ path: '/dev', mode: 'rw' as const }];
      await expect(bench.run('read', { path: 'zero' }, { filesystem: devices })).rejects.toMatchObject({
        code: 'E3109',
      });
      await expect(bench.run('write', { path: 'null', content: '' }, { filesystem: devices })).rejects.toMatchObject({
        code: 'E3109',
      });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('EXE-04 the kernel shows nothing of itself, even where the root is the whole disk', async () => {
    const filesystem = [{ path: '/', mode: 'ro' as const }];
    for (const path of [
      '/proc/self/environ',
      join('/proc/self', 'root', 'proc/self/environ'),
      '/proc/version',
      '/sys/kernel/notes',
    ])
      await expect(bench.run('read', { path }, { filesystem }), path).rejects.toMatchObject({ code: 'E3210' });
    await expect(bench.run('list', { path: '/proc' }, { filesystem })).rejects.toMatchObject({ code: 'E3210' });
    expect((await bench.run('read', { path: join(bench.root, 'a.txt') }, { filesystem }))['content']).toBe('inside');
  });

  test('a hard link is the file itself: it is read, and a write breaks the link instead of going through it', async () => {
    await link(join(bench.folder, 'outside.txt'), join(bench.root, 'hard'));
    expect(await content('hard')).toBe('outside');
    await bench.run('write', { path: 'hard', content: 'changed' });
    expect(await readFile(join(bench.folder, 'outside.txt'), 'utf8')).toBe('outside');
  });

  test('names are any text: unicode, line ends, spaces, dots, the longest', async () => {
    const names = ['ünï 😀', 'two\nlines', '...', ' ', '~', '%2e%2e', '-rf', '\u202egpj', 'a'.repeat(255), '*?[x]'];
    for (const name of names) {
      await bench.run('write', { path: `names/${name}`, content: name, create_folders: true });
      expect(await content(`names/${name}`)).toBe(name);
    }
    const { entries } = (await bench.run('list', { path: 'names' })) as { entries: { path: string }[] };
    expect(entries.map(({ path }) => path).sort()).toEqual([...names].sort());
    await refused('a'.repeat(256), 'E3109');
    await refused('a\0b', 'E3109');
  });

  test('a path longer than the kernel takes at once is walked all the same', async () => {
    const path = Array.from({ length: 20 }, () => 'd'.repeat(200)).join('/');
    await bench.run('write', { path: `${path}/f`, content: 'deep', create_folders: true });
    expect(await content(`${path}/f`)).toBe('deep');
    await expect(content('d/'.repeat(1200))).rejects.toMatchObject({ code: 'E3109' });
  });
});

describe('globs of the settings', () => {
  const files = ['.env', 'x/.env', '.hidden/secrets/key', '.git/config', '.git/HEAD', 'src/a.ts', 'src/a.md', 'env'];
  const fill = async (bench: FileBench): Promise<void> => {
    for (const file of files) {
      await mkdir(join(bench.root, file, '..'), { recursive: true });
      await writeFile(join(bench.root, file), 'found me\n');
    }
    await symlink('.env', join(bench.root, 'harmless.txt'));
    await symlink('.hidden/secrets', join(bench.root, 'harmless'));
  };

  test('EXE-04.3 denied files are closed by default, by their canonical path, and searches never show them', async () => {
    await using bench = await openFileBench();
    await fill(bench);
    for (const path of [
      '.env',
      'x/.env',
      'src/../.env',
      '.hidden/secrets/key',
      '.git/config',
      'harmless.txt',
      'harmless/key',
      'x/secrets/none',
    ]) {
      await expect(bench.run('read', { path }), path).rejects.toMatchObject({ code: 'E3210' });
      await expect(bench.run('write', { path, content: '' }), path).rejects.toMatchObject({ code: 'E3210' });
    }
    await expect(bench.run('grep', { path: '.env', pattern: 'x' })).rejects.toMatchObject({ code: 'E3210' });
    await expect(bench.run('list', { path: '.hidden/secrets' })).rejects.toMatchObject({ code: 'E3210' });
    const found = JSON.stringify([
      await bench.run('grep', { pattern: 'found' }),
      await bench.run('glob', { pattern: '**' }),
      await bench.run('list', { depth: 9 }),
    ]);
    expect(found).not.toMatch(/\.env"|secrets|git\/config/);
    expect(found).toContain('.git/HEAD');
  });

  test('EXE-04.3 deny is asked before allow, and writing has globs of its own', async () => {
    await using bench = await openFileBench({
      settings: { denyRead: ['**/.env'], allowRead: ['src/*', '**/.env'], allowWrite: ['**/*.md'], denyWrite: [] },
    });
    await fill(bench);
    expect((await bench.run('read', { path: 'src/a.ts' }))['content']).toBe('found me\n');
    await expect(bench.run('read', { path: '.env' })).rejects.toMatchObject({ code: 'E3210' });
    await expect(bench.run('read', { path: 'env' })).rejects.toMatchObject({ code: 'E3210' });
    await expect(bench.run('write', { path: 'src/a.ts', content: '' })).rejects.toMatchObject({ code: 'E3210' });
    await bench.run('write', { path: 'src/a.md', content: '' });
    expect((await bench.run('glob', { pattern: '**' }))['paths']).toEqual(['src/a.md', 'src/a.ts']);
    expect((await bench.run('grep', { pattern: 'found' }))['matches']).toEqual([
      { path: 'src/a.ts', line: 1, text: 'found me' },
    ]);
  });

  test('a closed folder is closed whatever the settings allow, by its name and by where it really is', async () => {
    await using bench = await openFileBench();
    await fill(bench);
    await symlink('src', join(bench.root, 'keys'));
    const closed = [join(bench.root, 'keys'), join(bench.root, 'x')];
    await using other = await openFileBench({
      settings: { ...USUAL.settings, denyRead: [], allowRead: ['**'] },
      closed,
    });
    const filesystem = [{ path: bench.root, mode: 'rw' as const }];
    for (const path of ['keys/a.ts', 'src/a.ts', 'x/.env', 'src/new'])
      await expect(other.run('read', { path }, { filesystem }), path).rejects.toMatchObject({ code: 'E3210' });
    expect((await other.run('read', { path: '.env' }, { filesystem }))['content']).toBe('found me\n');
  });

  test('what version control runs is not written by default', async () => {
    await using bench = await openFileBench();
    const hook = bench.run('write', { path: '.git/hooks/post-commit', content: '', create_folders: true });
    await expect(hook).rejects.toMatchObject({ code: 'E3210' });
  });
});
