import { open, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { executorConformance } from '../conformance/executor.conformance.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { type FileBench, openFileBench } from './file-tool.fixture.ts';
import { fileToolManifests } from './file-tools.ts';

const ENDLESS_BYTES = 1_000_000 * MiB;

executorConformance(test, 'file', async () => {
  const endless = { scanBytesMax: ENDLESS_BYTES, wholeBytesMax: ENDLESS_BYTES };
  const bench = await openFileBench({ bounds: endless });
  await writeFile(join(bench.root, 'hello.txt'), 'hello\n');
  const sparse = await open(join(bench.root, 'endless'), 'w');
  await sparse.write('text\n'.repeat(4096));
  await sparse.truncate(16_384 * MiB * 64);
  await sparse.close();
  const { executor } = bench;
  return {
    executor,
    works: () => ({
      call: bench.call('glob', { pattern: '*.txt' }),
      result: { path: bench.root, paths: ['hello.txt'], more: false },
    }),
    fails: () => bench.call('read', { path: 'nothing' }),
    hangs: () => {
      const running = Promise.withResolvers<void>();
      const more = { onProgress: () => running.resolve() };
      return {
        call: bench.call('read', { path: 'endless', offset: 1_000_000_000 }, more),
        running: () => running.promise,
      };
    },
    faulty: () => callOf({ executor: { kind: 'file', config: { operation: 'delete' } } }).tool.manifest,
    leftovers: () => openBelow(bench.root),
    close: async () => bench[Symbol.asyncDispose](),
  };
});

/** Number of file descriptors of this process that are open below a folder. */
async function openBelow(folder: string): Promise<number> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(folder)).length;
}

describe('file executor', () => {
  let bench: FileBench;
  beforeEach(async () => {
    bench = await openFileBench();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  test('EXE-04 the six tools are there as manifests, each with what it leaves behind', () => {
    const manifests = fileToolManifests([
      { path: '/srv/in', mode: 'ro' },
      { path: '/srv/out', mode: 'rw' },
    ]);
    expect(manifests.map(({ tool_id, side_effect_policy }) => [tool_id, side_effect_policy])).toEqual([
      ['file_read', 'pure'],
      ['file_write', 'compensatable'],
      ['file_edit', 'compensatable'],
      ['file_list', 'pure'],
      ['file_glob', 'pure'],
      ['file_grep', 'pure'],
    ]);
    expect(manifests[0]?.permissions?.filesystem).toEqual([
      { path: '/srv/in', mode: 'ro' },
      { path: '/srv/out', mode: 'ro' },
    ]);
    expect(manifests[1]?.permissions?.filesystem).toEqual([{ path: '/srv/out', mode: 'rw' }]);
    expect(fileToolManifests([{ path: '/srv/in', mode: 'ro' }])).toHaveLength(4);
  });

  test('a reading tool may be tried again, a writing one may not', () => {
    const [read, write] = fileToolManifests([{ path: '/srv', mode: 'rw' }]);
    expect(bench.executor.isRetryable(callOf(read ?? never()).tool)).toBe(true);
    expect(bench.executor.isRetryable(callOf(write ?? never()).tool)).toBe(false);
  });

  test('arguments are checked whatever the schema of the manifest lets through', async () => {
    await expect(bench.run('read', { path: 7 })).rejects.toMatchObject({ code: 'E3509' });
    await expect(bench.run('read', { path: 'a', of: 1 })).rejects.toMatchObject({ code: 'E3509' });
    await expect(bench.run('list', { depth: 0 })).rejects.toMatchObject({ code: 'E3509' });
  });

  test('a call without a folder is refused', async () => {
    await expect(bench.run('read', { path: 'a' }, { filesystem: [] })).rejects.toMatchObject({ code: 'E3105' });
  });

  test('EXE-04 without /proc nothing is done in a less safe way', async () => {
    await writeFile(join(bench.root, 'a'), 'a');
    await using blind = await openFileBench({ descriptors: bench.folder });
    const filesystem = [{ path: bench.root, mode: 'rw' as const }];
    await expect(blind.run('read', { path: 'a' }, { filesystem })).rejects.toMatchObject({ code: 'E3901' });
  });

  test('no call leaves a descriptor behind, however it ends', async () => {
    await writeFile(join(bench.root, 'a'), 'a\n');
    await bench.run('read', { path: 'a' });
    await bench.run('write', { path: 'b/c/d', content: 'x', create_folders: true });
    await bench.run('edit', { path: 'a', old_string: 'a', new_string: 'b' });
    await bench.run('grep', { pattern: 'b' });
    await bench.run('list', { depth: 4, limit: 1 });
    await bench.run('glob', { pattern: '**/d' });
    await bench.run('read', { path: 'a/b' }).catch(() => undefined);
    await bench.run('read', { path: '../x' }).catch(() => undefined);
    await bench.run('edit', { path: 'a', old_string: 'zz', new_string: 'b' }).catch(() => undefined);
    expect(await openBelow(bench.folder)).toBe(0);
  });
});

function never(): never {
  throw new Error('no such manifest');
}
