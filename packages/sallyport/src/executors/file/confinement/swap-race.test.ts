import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { type FileBench, openFileBench } from '../file-tool.fixture.ts';

const ROUNDS = 500;
const AT_ONCE = 8;
const SEARCH_EVERY = 10;
const TIMEOUT_MS = 120_000;
const OUTSIDE = ['file', 'sub'];

async function fill(bench: FileBench): Promise<string> {
  const outside = join(bench.folder, 'outside');
  await mkdir(join(outside, 'sub'), { recursive: true });
  await writeFile(join(outside, 'file'), 'outside');
  for (const at of ['', 'inner/']) {
    await mkdir(join(bench.root, `${at}folder/sub`), { recursive: true });
    await writeFile(join(bench.root, `${at}folder/file`), 'inside');
    await symlink(outside, join(bench.root, `${at}folder.link`));
  }
  return outside;
}

/** The outcomes of many calls, counted: 'inside', 'written', or the code of an error. */
async function hammer(bench: FileBench): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  const end = async (run: Promise<Record<string, unknown>>, good: (result: Record<string, unknown>) => string) => {
    const told = await run.then(good, (thrown: unknown) =>
      thrown instanceof ToolLayerError ? thrown.code : `${thrown}`,
    );
    ends.set(told, (ends.get(told) ?? 0) + 1);
  };
  const worker = async (number: number): Promise<void> => {
    for (let round = number; round < ROUNDS; round += AT_ONCE) {
      await end(bench.run('read', { path: 'folder/file' }), ({ content }) => String(content));
      await end(bench.run('read', { path: 'inner/folder/../folder/file' }), ({ content }) => String(content));
      await end(bench.run('write', { path: `folder/sub/new-${round % AT_ONCE}`, content: 'x' }), () => 'written');
      await end(bench.run('write', { path: 'inner/folder/file', content: 'inside' }), () => 'written');
      if (round % SEARCH_EVERY !== 0) continue;
      await end(
        bench.run('grep', { path: '.', pattern: 'outside' }),
        ({ matches }) => `matches ${JSON.stringify(matches)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => worker(number)));
  return ends;
}

test(
  'EXE-04.5 links swapped in a tight loop never lead a read, a write or a search out of the root',
  async () => {
    await using bench = await openFileBench();
    const outside = await fill(bench);
    const stop = new SharedArrayBuffer(4);
    const swapper = new Worker(new URL('./swap-links.fixture.ts', import.meta.url), {
      workerData: { root: bench.root, stop },
    });
    try {
      await once(swapper, 'message');
      const ends = await hammer(bench);
      Atomics.store(new Int32Array(stop), 0, 1);
      const [rounds] = (await once(swapper, 'message')) as [number];
      expect(rounds).toBeGreaterThan(0);
      expect(
        [...ends.keys()].filter((end) => !/^(?:inside|written|matches \[\]|E3105|E3109|E3704)$/.test(end)),
      ).toEqual([]);
      for (const end of ['inside', 'written', 'E3105']) expect(ends.get(end), end).toBeGreaterThan(0);
    } finally {
      await swapper.terminate();
    }
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('outside');
    expect((await readdir(outside)).sort()).toEqual(OUTSIDE);
    expect(await readdir(join(outside, 'sub'))).toEqual([]);
  },
  TIMEOUT_MS,
);
