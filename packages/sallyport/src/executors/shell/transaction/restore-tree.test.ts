import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NotSecured } from './snapshot.ts';
import { described, newScratch, secure } from './tree.fixture.ts';

let scratch: ReturnType<typeof newScratch>;
let tree = '';
beforeEach(() => {
  scratch = newScratch();
  tree = scratch.tree;
  mkdirSync(tree);
});
afterEach(() => {
  vi.restoreAllMocks();
  scratch.remove();
});
const at = (...parts: string[]): string => join(tree, ...parts);

/** A change to a tree; a change that the tree does not allow has no effect. */
type Change = readonly [what: string, one: string, other: string, number: number];
const name = fc.constantFrom('a', 'b', 'c', 'd', 'a/a', 'a/b', 'a/c/a', 'b/a', 'ü ', '.h');
const change: fc.Arbitrary<Change> = fc.tuple(
  fc.constantFrom('write', 'append', 'folder', 'link', 'hard', 'remove', 'move', 'mode', 'time', 'truncate'),
  name,
  name,
  fc.nat(511),
);
/** The changes by name. Links lead into the tree only, because this test follows them with its user's rights. */
const CHANGES: Readonly<Record<string, (one: string, other: string, number: number) => void>> = {
  write: (one, other, number) => writeFileSync(one, `${other} ${number}`),
  append: (one, other) => writeFileSync(one, other, { flag: 'a' }),
  folder: (one) => mkdirSync(one, { recursive: true }),
  link: (one, other, number) => symlinkSync(number % 2 === 0 ? other : 'nowhere', one),
  hard: (one, other) => linkSync(other, one),
  remove: (one) => rmSync(one, { recursive: true }),
  move: (one, other) => renameSync(other, one),
  mode: (one, _, number) => chmodSync(one, number),
  time: (one, _, number) => utimesSync(one, number, number),
  truncate: (one, _, number) => truncateSync(one, number),
};
function apply(changes: readonly Change[]): void {
  for (const [what, one, other, number] of changes) {
    try {
      CHANGES[what]?.(at(one), at(other), number);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    }
  }
}

test('EXE-03 after a restore the tree is what it was: contents, rights, times, links', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 4, maxLength: 25 }),
      fc.array(change, { minLength: 1, maxLength: 25 }),
      async (made, changed) => {
        rmSync(tree, { recursive: true });
        mkdirSync(tree);
        apply(made);
        const before = described(tree);
        await using secured = await secure(scratch.folder, [tree]);
        apply(changed);
        await secured.restore();
        expect(described(tree)).toEqual(before);
      },
    ),
    { numRuns: 60 },
  );
});

test('EXE-03 what was not changed is not made anew', async () => {
  writeFileSync(at('old'), 'old');
  writeFileSync(at('young'), 'young');
  const long = new Promise((resolve) => setTimeout(resolve, 2600));
  await long;
  const { ino } = statSync(at('old'));
  await using secured = await secure(scratch.folder, [tree]);
  writeFileSync(at('young'), 'YOUNG');
  await secured.restore();
  expect(statSync(at('old')).ino).toBe(ino);
  expect(readFileSync(at('young'), 'utf8')).toBe('young');
});

test('a change that leaves size and time as they were is seen', async () => {
  writeFileSync(at('a'), 'one');
  utimesSync(at('a'), 1, 1);
  await using secured = await secure(scratch.folder, [tree]);
  writeFileSync(at('a'), 'two');
  utimesSync(at('a'), 1, 1);
  await secured.restore();
  expect(readFileSync(at('a'), 'utf8')).toBe('one');
});

describe('confinement', () => {
  test('EXE-03 a link that a tool puts in the place of a folder leads the restore nowhere', async () => {
    mkdirSync(at('x'));
    writeFileSync(at('x', 'file'), 'inside');
    mkdirSync(join(scratch.folder, 'outside'));
    writeFileSync(join(scratch.folder, 'outside', 'file'), 'outside');
    writeFileSync(join(scratch.folder, 'outside', 'more'), 'outside');
    await using secured = await secure(scratch.folder, [tree]);
    rmSync(at('x'), { recursive: true });
    symlinkSync('../outside', at('x'));
    symlinkSync('../outside', at('y'));
    symlinkSync('../outside/file', at('z'));
    await secured.restore();
    expect(readFileSync(at('x', 'file'), 'utf8')).toBe('inside');
    expect([existsSync(at('y')), existsSync(at('z'))]).toEqual([false, false]);
    expect(described(join(scratch.folder, 'outside')).length).toBe(3);
    expect(readFileSync(join(scratch.folder, 'outside', 'file'), 'utf8')).toBe('outside');
  });

  test('a link in the tree is kept as it is, and what it leads to is not secured', async () => {
    writeFileSync(join(scratch.folder, 'big'), 'x'.repeat(5000));
    symlinkSync('../big', at('link'));
    await using secured = await secure(scratch.folder, [tree], ['**'], 1);
    rmSync(at('link'));
    await secured.restore();
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
  });

  test('a root that has become another folder is not touched', async () => {
    writeFileSync(at('a'), 'one');
    await using secured = await secure(scratch.folder, [tree]);
    renameSync(tree, join(scratch.folder, 'moved'));
    mkdirSync(tree);
    writeFileSync(at('b'), 'other');
    await expect(secured.restore()).rejects.toThrow('another folder');
    expect(readFileSync(at('b'), 'utf8')).toBe('other');
    rmSync(tree, { recursive: true });
    symlinkSync('moved', tree);
    await expect(secured.restore()).rejects.toThrow();
  });
});

/** Makes nested folders, and a file in the last; the path is longer than the system allows for one path. */
function nest(levels: number): void {
  execFileSync('perl', ['-e', `for (1..${levels}) { mkdir 'd'; chdir 'd' } open F, '>', 'file'`], { cwd: tree });
}

describe('what else there is in file systems', () => {
  test('names are bytes, not text', async () => {
    const odd = Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe, 0x0a, 0x41])]);
    writeFileSync(odd, 'odd');
    symlinkSync(Buffer.from([0xc3, 0x28]), Buffer.concat([odd, Buffer.from('l')]));
    const before = described(tree);
    await using secured = await secure(scratch.folder, [tree]);
    rmSync(odd);
    rmSync(Buffer.concat([odd, Buffer.from('l')]));
    await secured.restore();
    expect(described(tree)).toEqual(before);
  });

  test('holes stay holes, in the snapshot and in the file', async () => {
    const size = 64 * MiB;
    writeFileSync(at('sparse'), 'start');
    truncateSync(at('sparse'), size);
    writeFileSync(at('sparse'), 'end', { flag: 'a' });
    await using secured = await secure(scratch.folder, [tree], ['**'], MiB);
    writeFileSync(at('sparse'), 'gone');
    await secured.restore();
    const stats = statSync(at('sparse'));
    expect([stats.size, stats.blocks < 4096]).toEqual([size + 3, true]);
    expect(readFileSync(at('sparse')).subarray(-4).toString()).toBe('\0end');
    expect(statSync(join(scratch.folder, 'pack')).blocks).toBeLessThan(4096);
  });

  test('pipes are neither opened nor removed, new ones are removed', async () => {
    execFileSync('mkfifo', [at('old')]);
    await using secured = await secure(scratch.folder, [tree]);
    execFileSync('mkfifo', [at('new')]);
    await secured.restore();
    expect([existsSync(at('old')), existsSync(at('new'))]).toEqual([true, false]);
  });

  test('a tool that nests folders deeper than anybody walks is taken back', async () => {
    await using secured = await secure(scratch.folder, [tree]);
    nest(600);
    await secured.restore();
    expect(described(tree)).toEqual([expect.stringContaining(' folder ')]);
  });

  test('folders that are nested too deep are not secured', async () => {
    nest(200);
    await expect(secure(scratch.folder, [tree])).rejects.toThrow(NotSecured);
  });

  test('a hard link out of the tree is given up, and the file outside stays', async () => {
    writeFileSync(join(scratch.folder, 'outside'), 'one');
    linkSync(join(scratch.folder, 'outside'), at('in'));
    await using secured = await secure(scratch.folder, [tree]);
    writeFileSync(at('in'), 'two');
    await secured.restore();
    expect(readFileSync(at('in'), 'utf8')).toBe('one');
    expect(readFileSync(join(scratch.folder, 'outside'), 'utf8')).toBe('two');
  });
});

describe('scope', () => {
  test('EXE-03.1 only what the globs name is secured and restored', async () => {
    mkdirSync(at('src/deep'), { recursive: true });
    mkdirSync(at('out'));
    for (const file of ['src/a.ts', 'src/deep/b.ts', 'src/a.md', 'out/c.ts']) writeFileSync(at(file), 'before');
    await using secured = await secure(scratch.folder, [tree], ['src/**/*.ts']);
    for (const file of ['src/a.ts', 'src/a.md', 'out/c.ts', 'src/new.ts', 'src/new.md'])
      writeFileSync(at(file), 'after');
    rmSync(at('src/deep'), { recursive: true });
    mkdirSync(at('src/more'));
    writeFileSync(at('src/more/x.ts'), 'after');
    await secured.restore();
    const read = (file: string): string | undefined =>
      existsSync(at(file)) ? readFileSync(at(file), 'utf8') : undefined;
    expect(['src/a.ts', 'src/deep/b.ts', 'src/new.ts', 'src/more/x.ts'].map(read)).toEqual([
      'before',
      'before',
      undefined,
      undefined,
    ]);
    expect(['src/a.md', 'out/c.ts', 'src/new.md'].map(read)).toEqual(['after', 'after', 'after']);
  });

  test('a granted file is secured without its neighbours', async () => {
    writeFileSync(at('a'), 'one');
    writeFileSync(at('b'), 'one');
    await using secured = await secure(scratch.folder, [at('a')]);
    writeFileSync(at('a'), 'two');
    writeFileSync(at('b'), 'two');
    await secured.restore();
    expect([readFileSync(at('a'), 'utf8'), readFileSync(at('b'), 'utf8')]).toEqual(['one', 'two']);
  });

  test('EXE-03.4 max_snapshot_bytes is a hard bound', async () => {
    writeFileSync(at('a'), 'x'.repeat(100));
    await using _ = await secure(scratch.folder, [tree], ['**'], 100);
    await expect(secure(scratch.folder, [tree], ['**'], 99)).rejects.toMatchObject({ bytesMax: 99 });
  });

  test('what cannot be read is not secured in part', async () => {
    await expect(secure(scratch.folder, [tree, at('missing')])).rejects.toThrow(NotSecured);
  });
});

test('EXE-03.3 a file is whole in the snapshot and again where the system takes its bytes in parts, as on a disk that is nearly full', async () => {
  writeFileSync(at('a'), 'content '.repeat(100));
  await using file = await open(at('a'));
  const handle = Object.getPrototypeOf(file) as typeof file;
  const write = handle.write as (bytes: Uint8Array, from: number, length: number, position: number) => unknown;
  const inParts = function (this: typeof file, bytes: Uint8Array, from: number, length: number, position: number) {
    return write.call(this, bytes, from, Math.min(length, 7), position);
  };
  vi.spyOn(handle, 'write').mockImplementation(inParts as typeof handle.write);
  await using secured = await secure(scratch.folder, [tree]);
  writeFileSync(at('a'), 'changed');
  await secured.restore();
  expect(readFileSync(at('a'), 'utf8')).toBe('content '.repeat(100));
});
