import { chmod, mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { sha256 } from '@sallyport/std/sha256';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileBench, openFileBench } from '../file-tool.fixture.ts';

let bench: FileBench;
const at = (name: string): string => join(bench.root, name);
beforeEach(async () => {
  bench = await openFileBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('file_write', () => {
  test('EXE-04.1 a new file and a replaced one tell what was there before', async () => {
    const first = await bench.run('write', { path: 'a', content: 'one' });
    expect(first).toEqual({ path: at('a'), created: true, bytes: 3, sha256: sha256('one'), before: null });
    const second = await bench.run('write', { path: 'a', content: 'two!' });
    expect(second).toMatchObject({ created: false, before: { sha256: sha256('one'), bytes: 3 } });
    expect(await readdir(bench.root)).toEqual(['a']);
  });

  test('the permissions of a file stay, without those that lend an account', async () => {
    await writeFile(at('run.sh'), 'x');
    await chmod(at('run.sh'), 0o4751);
    const { before } = await bench.run('write', { path: 'run.sh', content: 'y' });
    expect((await stat(at('run.sh'))).mode & 0o7777).toBe(0o751);
    expect(before).toMatchObject({ mode: '0751' });
  });

  test('folders on the way are made only when that is said', async () => {
    await expect(bench.run('write', { path: 'x/y/z', content: '' })).rejects.toMatchObject({ code: 'E3109' });
    expect(await readdir(bench.root)).toEqual([]);
    await bench.run('write', { path: 'x/y/z', content: '', create_folders: true });
    expect(await readFile(at('x/y/z'), 'utf8')).toBe('');
  });

  test('what is there stays where that is wanted, and where it is not what was expected', async () => {
    await writeFile(at('a'), 'mine');
    await expect(bench.run('write', { path: 'a', content: 'x', if_exists: 'refuse' })).rejects.toMatchObject({
      code: 'E3109',
    });
    const other = bench.run('write', { path: 'a', content: 'x', expected_sha256: sha256('yours') });
    await expect(other).rejects.toMatchObject({ code: 'E3704' });
    const gone = bench.run('write', { path: 'b', content: 'x', expected_sha256: sha256('') });
    await expect(gone).rejects.toMatchObject({ code: 'E3704' });
    expect(await readFile(at('a'), 'utf8')).toBe('mine');
    await bench.run('write', { path: 'a', content: 'x', expected_sha256: sha256('mine') });
    expect(await readFile(at('a'), 'utf8')).toBe('x');
  });

  test('bytes come in Base64, and nothing else is taken for it', async () => {
    await bench.run('write', { path: 'b', content: 'AP8=', encoding: 'base64' });
    expect(await readFile(at('b'))).toEqual(Buffer.from([0, 255]));
    await expect(bench.run('write', { path: 'b', content: 'AP8', encoding: 'base64' })).rejects.toMatchObject({
      code: 'E3509',
    });
  });

  test('sizes are bounded, of the new content and of what would have to be brought back', async () => {
    await using small = await openFileBench({ bounds: { writeBytesMax: 4, replacedBytesMax: 8 } });
    await small.run('write', { path: 'a', content: '1234' });
    await expect(small.run('write', { path: 'a', content: '12345' })).rejects.toMatchObject({ code: 'E3102' });
    await writeFile(join(small.root, 'b'), '123456789');
    await expect(small.run('write', { path: 'b', content: '1' })).rejects.toMatchObject({ code: 'E3102' });
    const sparse = await open(at('sparse'), 'w');
    await sparse.truncate(1024 * MiB);
    await sparse.close();
    await expect(bench.run('write', { path: 'sparse', content: '1' })).rejects.toMatchObject({ code: 'E3102' });
  });

  test('a cancelled write changes nothing and leaves nothing', async () => {
    await writeFile(at('a'), 'old');
    const controller = new AbortController();
    const writing = bench.run('write', { path: 'a', content: 'x'.repeat(MiB) }, { signal: controller.signal });
    controller.abort();
    await expect(writing).rejects.toMatchObject({ code: 'E3805' });
    expect(await readdir(bench.root)).toEqual(['a']);
    expect(await readFile(at('a'), 'utf8')).toBe('old');
  });
});

describe('file_edit', () => {
  const edit = (path: string, from: string, to: string, more = {}): Promise<Record<string, unknown>> =>
    bench.run('edit', { path, old_string: from, new_string: to, ...more });

  test('EXE-04 text that occurs once is replaced; that does not, or several times, is told', async () => {
    await writeFile(at('a'), 'one two two $& three');
    expect(await edit('a', 'one', '$&$1')).toMatchObject({
      replacements: 1,
      before: { sha256: sha256('one two two $& three') },
    });
    expect(await readFile(at('a'), 'utf8')).toBe('$&$1 two two $& three');
    await expect(edit('a', 'two', '2')).rejects.toMatchObject({
      code: 'E3109',
      message: expect.stringContaining('2 times'),
    });
    await expect(edit('a', 'four', '4')).rejects.toMatchObject({ code: 'E3109' });
    await expect(edit('a', 'two', 'two')).rejects.toMatchObject({ code: 'E3509' });
    await expect(edit('none', 'a', 'b')).rejects.toMatchObject({ code: 'E3109' });
    expect(await edit('a', 'two', '2', { replace_all: true })).toMatchObject({ replacements: 2 });
    expect(await readFile(at('a'), 'utf8')).toBe('$&$1 2 2 $& three');
  });

  test('line ends of a file are kept, whichever the strings have', async () => {
    await writeFile(at('crlf'), 'a\r\nb\r\nc\r\n');
    await edit('crlf', 'a\nb', 'x\ny\nz');
    expect(await readFile(at('crlf'), 'utf8')).toBe('x\r\ny\r\nz\r\nc\r\n');
    await writeFile(at('mixed'), 'a\r\nb\nc');
    await expect(edit('mixed', 'a\nb', 'x')).rejects.toMatchObject({ code: 'E3109' });
    await edit('mixed', 'b\nc', 'd\ne');
    expect(await readFile(at('mixed'), 'utf8')).toBe('a\r\nd\ne');
  });

  test('encodings are kept with their marks; bytes that are no text are not touched', async () => {
    const utf16 = Buffer.from('\uFEFFgrün 😀', 'utf16le');
    await writeFile(at('le'), utf16);
    await writeFile(at('be'), Buffer.from(utf16).swap16());
    await writeFile(at('bom'), '\uFEFFgrün');
    await writeFile(at('latin'), Buffer.from('grün', 'latin1'));
    for (const name of ['le', 'be', 'bom', 'latin']) await edit(name, 'grün', 'blöd');
    expect(await readFile(at('le'))).toEqual(Buffer.from('\uFEFFblöd 😀', 'utf16le'));
    expect(await readFile(at('be'))).toEqual(Buffer.from('\uFEFFblöd 😀', 'utf16le').swap16());
    expect(await readFile(at('bom'), 'utf8')).toBe('\uFEFFblöd');
    expect(await readFile(at('latin'))).toEqual(Buffer.from('blöd', 'latin1'));
    await expect(edit('latin', 'bl', '😀')).rejects.toMatchObject({ code: 'E3109' });
    await writeFile(at('binary'), Buffer.from([97, 0, 98]));
    await expect(edit('binary', 'a', 'b')).rejects.toMatchObject({ code: 'E3109' });
    const broken = Buffer.concat([Buffer.alloc(9000, 97), Buffer.from([255, 10])]);
    await writeFile(at('broken'), broken);
    await expect(edit('broken', 'aaa', 'b', { replace_all: true })).rejects.toMatchObject({ code: 'E3109' });
    expect(await readFile(at('broken'))).toEqual(broken);
  });

  test('edits of one file at once all take effect', async () => {
    await mkdir(at('d'));
    await writeFile(at('d/a'), Array.from({ length: 20 }, (_, index) => `<${index}>`).join(''));
    await Promise.all(Array.from({ length: 20 }, (_, index) => edit('d/a', `<${index}>`, `[${index}]`)));
    expect(await readFile(at('d/a'), 'utf8')).toBe(Array.from({ length: 20 }, (_, index) => `[${index}]`).join(''));
  });

  test('a file that is another than expected is left alone', async () => {
    await writeFile(at('a'), 'new');
    await expect(edit('a', 'new', 'x', { expected_sha256: sha256('old') })).rejects.toMatchObject({ code: 'E3704' });
  });
});
