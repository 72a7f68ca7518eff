import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KiB, MiB } from '@sallyport/std/bytes';
import { sha256 } from '@sallyport/std/sha256';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileBench, openFileBench } from '../file-tool.fixture.ts';

let bench: FileBench;
const put = async (name: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(join(bench.root, name, '..'), { recursive: true });
  await writeFile(join(bench.root, name), content);
};
beforeEach(async () => {
  bench = await openFileBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('file_read', () => {
  const read = (path: string, more = {}, options = {}): Promise<Record<string, unknown>> =>
    bench.run('read', { path, ...more }, options);

  test('EXE-04.1 lines are read from one on, so many, and the whole file is told by number and hash', async () => {
    await put('a', 'one\ntwo\r\nthree');
    expect(await read('a')).toEqual({
      path: join(bench.root, 'a'),
      encoding: 'utf-8',
      content: 'one\ntwo\r\nthree',
      from_line: 1,
      to_line: 3,
      more: false,
      bytes: 14,
      total_lines: 3,
      sha256: sha256('one\ntwo\r\nthree'),
    });
    expect(await read('a', { offset: 2, limit: 1 })).toMatchObject({
      content: 'two\r\n',
      to_line: 2,
      more: true,
      total_lines: 3,
    });
    expect(await read('a', { offset: 3 })).toMatchObject({ content: 'three', more: false });
    await expect(read('a', { offset: 4 })).rejects.toMatchObject({ code: 'E3109' });
    await put('empty', '');
    expect(await read('empty')).toMatchObject({ content: '', total_lines: 0, more: false });
  });

  test('a result stays within the output that the call may give, and never breaks a character', async () => {
    await put('long', '😀'.repeat(50_000));
    const { content, more, note } = await read('long', {}, { outputBytesMax: 2 * KiB });
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThanOrEqual(KiB + 2);
    expect(content).toMatch(/^(?:😀)+$/u);
    expect(more).toBe(true);
    expect(note).toContain('line 1');
    await put('controls', '\u0001'.repeat(50_000));
    const controls = await read('controls', {}, { outputBytesMax: 2 * KiB });
    expect(Buffer.byteLength(JSON.stringify(controls['content']))).toBeLessThanOrEqual(KiB + 2);
  });

  test('text is told from bytes, and decoded by its mark', async () => {
    const utf16 = Buffer.from('\uFEFFgrün\n', 'utf16le');
    await put('le', utf16);
    await put('be', Buffer.from(utf16).swap16());
    await put('latin', Buffer.from('grün\n', 'latin1'));
    for (const [name, encoding] of [
      ['le', 'utf-16le'],
      ['be', 'utf-16be'],
      ['latin', 'latin1'],
    ] as const)
      expect(await read(name)).toMatchObject({ encoding, content: 'grün\n' });
    await put('bytes', Buffer.from([137, 80, 0, 1]));
    expect(await read('bytes')).toMatchObject({ encoding: 'base64', content: 'iVAAAQ==', more: false });
    expect(await read('latin', { encoding: 'base64' })).toMatchObject({
      content: Buffer.from('grün\n', 'latin1').toString('base64'),
    });
    // A character whose bytes are read in two chunks is decoded as one character.
    await put('straddle', `${'a'.repeat(256 * KiB - 1)}ü\nend\n`);
    expect(await read('straddle', { offset: 2 })).toMatchObject({ content: 'end\n', sha256: expect.any(String) });
  });

  test('a sparse file of a gigabyte is read at its beginning, and given up where that takes too long', async () => {
    await using bounded = await openFileBench({ bounds: { scanBytesMax: 4 * MiB } });
    const file = await open(join(bounded.root, 'sparse'), 'w');
    await file.write('text\n'.repeat(2000));
    await file.truncate(1024 * MiB);
    await file.close();
    expect(await bounded.run('read', { path: 'sparse', limit: 1 })).toMatchObject({
      content: 'text\n',
      more: true,
      bytes: 1024 * MiB,
    });
    await expect(bounded.run('read', { path: 'sparse', offset: 9999 })).rejects.toMatchObject({ code: 'E3102' });
  });
});

describe('file_list', () => {
  test('EXE-04.1 a folder is listed in order, by pages, to a depth, and links are named only', async () => {
    for (const name of ['b/2', 'b/1', 'b/deep/3', 'a']) await put(name, name);
    await symlink('..', join(bench.root, 'c'));
    const first = await bench.run('list', {});
    expect(first['entries']).toEqual([
      { path: 'a', kind: 'file', bytes: 1 },
      { path: 'b', kind: 'folder' },
      { path: 'c', kind: 'link' },
    ]);
    const paths = async (more: object): Promise<unknown> =>
      ((await bench.run('list', { depth: 32, ...more }))['entries'] as { path: string }[]).map(({ path }) => path);
    expect(await paths({})).toEqual(['a', 'b', 'b/1', 'b/2', 'b/deep', 'b/deep/3', 'c']);
    expect(await paths({ depth: 2, offset: 2, limit: 2 })).toEqual(['b/1', 'b/2']);
    expect(await bench.run('list', { limit: 2 })).toMatchObject({ more: true, next_offset: 2 });
    await expect(bench.run('list', { path: 'a' })).rejects.toMatchObject({ code: 'E3109' });
    await expect(bench.run('list', { path: 'c' })).rejects.toMatchObject({ code: 'E3105' });
  });

  test('a large folder is listed by pages, and beyond the bound said to be incomplete', async () => {
    await using bounded = await openFileBench({ bounds: { folderEntriesMax: 1000 } });
    for (let index = 0; index < 1001; index += 1) await writeFile(join(bounded.root, `f${index}`), '');
    const result = await bounded.run('list', { offset: 995, limit: 100 });
    expect(result['entries']).toHaveLength(5);
    expect(result).toMatchObject({ more: false, incomplete: expect.stringContaining('1000') });
  });

  test('a deep tree ends at the bound', async () => {
    await using bounded = await openFileBench({ bounds: { depthMax: 3 } });
    await mkdir(join(bounded.root, 'a/b/c/d'), { recursive: true });
    const { entries, incomplete } = await bounded.run('list', { depth: 32 });
    expect(entries).toHaveLength(3);
    expect(incomplete).toContain('3 levels');
  });
});

describe('file_glob', () => {
  test('EXE-04 files are found by name and by path, never through links', async () => {
    for (const name of ['src/a.ts', 'src/x/b.ts', '.hidden/c.ts', 'd.md', 'src/e{1}.md']) await put(name, '');
    await symlink('src', join(bench.root, 'link'));
    await symlink('d.md', join(bench.root, 'f.md'));
    const find = async (pattern: string, more = {}): Promise<unknown> =>
      (await bench.run('glob', { pattern, ...more }))['paths'];
    expect(await find('*.ts')).toEqual(['.hidden/c.ts', 'src/a.ts', 'src/x/b.ts']);
    expect(await find('src/*.ts')).toEqual(['src/a.ts']);
    expect(await find('src/**/*.ts')).toEqual(['src/a.ts', 'src/x/b.ts']);
    expect(await find('*.md', { path: 'src' })).toEqual(['e{1}.md']);
    expect(await find('link/**')).toEqual([]);
    expect(await bench.run('glob', { pattern: '**', limit: 2 })).toMatchObject({ more: true });
    for (const pattern of ['../**', '/etc/*', 'a/../../b'])
      await expect(find(pattern), pattern).rejects.toMatchObject({ code: 'E3509' });
  });

  test('VAL-05 hostile globs end', async () => {
    await put(`${'a'.repeat(250)}`, '');
    await put(`${'a/'.repeat(24)}b`, '');
    const paths = await Promise.all(
      [`${'*a'.repeat(60)}*b?c`, `${'**/a/'.repeat(40)}c`, `${'[a-z]*'.repeat(40)}_`].map((pattern) =>
        bench.run('glob', { pattern }),
      ),
    );
    expect(paths.flatMap((each) => each['paths'])).toEqual([]);
  });
});

describe('file_grep', () => {
  const grep = (pattern: string, more = {}): Promise<Record<string, unknown>> =>
    bench.run('grep', { pattern, ...more });

  test('EXE-04.1 lines are found with what is around them, in text files only', async () => {
    await put('a.ts', 'one\ntwo\r\nthree\nTwo\n');
    await put('b/c.md', 'two');
    await put('bytes', Buffer.from('two\0'));
    await symlink('a.ts', join(bench.root, 'link'));
    const result = await grep('^t.o$', { context: 1 });
    expect(result).toMatchObject({
      files_searched: 2,
      skipped: { binary: 1, too_large: 0, unreadable: 0 },
      more: false,
    });
    expect(result['matches']).toEqual([
      { path: 'a.ts', line: 2, text: 'two', before: ['one'], after: ['three'] },
      { path: 'b/c.md', line: 1, text: 'two', before: [], after: [] },
    ]);
    expect((await grep('two', { ignore_case: true, glob: '*.ts' }))['matches']).toEqual([
      { path: 'a.ts', line: 2, text: 'two' },
      { path: 'a.ts', line: 4, text: 'Two' },
    ]);
    expect((await grep('t', { path: 'a.ts', limit: 1 }))['matches']).toHaveLength(1);
    expect(await grep('t', { path: 'a.ts', limit: 1 })).toMatchObject({ more: true });
    expect((await grep('t.o', { fixed_string: true }))['matches']).toEqual([]);
    expect((await grep('T.O', { fixed_string: true, ignore_case: true }))['matches']).toEqual([]);
  });

  test('patterns that cannot be had are refused with the reason', async () => {
    for (const pattern of ['(?=a)', '(a)\\1', '(', '(?:a{1000}){9}', '[[:nope:]]'])
      await expect(grep(pattern), pattern).rejects.toMatchObject({ code: 'E3509' });
  });

  test('VAL-05.2 hostile patterns end, and so do hostile files', async () => {
    await put('long', 'a'.repeat(MiB));
    await put('many', `${'a'.repeat(200)}\n`.repeat(2000));
    for (const pattern of ['(a+)+$b', '(a|aa)*c', '(?:.*a){20}b', '(?i)(x|A)*!'])
      expect((await grep(pattern, { context: 10 }))['matches'], pattern).toEqual([]);
    expect(JSON.stringify(await grep('a', { context: 10, limit: 1000 })).length).toBeLessThan(70_000);
  });

  test('files that are too large, and time and bytes that are spent, are told', async () => {
    await using bounded = await openFileBench({ bounds: { grepFileBytesMax: 10, grepBytesMax: 12, entriesMax: 100 } });
    for (const name of ['a', 'b', 'c']) await writeFile(join(bounded.root, name), 'x\n'.repeat(5));
    await writeFile(join(bounded.root, '0'), 'x'.repeat(11));
    const result = await bounded.run('grep', { pattern: 'x' });
    expect(result).toMatchObject({
      files_searched: 2,
      skipped: { too_large: 1 },
      incomplete: expect.stringContaining('12 bytes'),
    });
    let now = 0;
    await using timed = await openFileBench({
      clock: { now: () => now, monotonic: () => (now += 1000) },
      bounds: { searchMs: 2500 },
    });
    for (const name of ['a', 'b', 'c', 'd']) await writeFile(join(timed.root, name), '');
    expect((await timed.run('glob', { pattern: '*' }))['incomplete']).toContain('time');
  });

  test('a search ends when it is cancelled', async () => {
    await put('many', `${'a'.repeat(200)}\n`.repeat(20_000));
    const controller = new AbortController();
    const searching = bench.run('grep', { pattern: '(a|aa)*[x-z]' }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(searching).rejects.toMatchObject({ code: 'E3805' });
  });
});
