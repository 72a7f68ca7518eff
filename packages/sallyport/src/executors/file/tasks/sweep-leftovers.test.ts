import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openFileBench } from '../file-tool.fixture.ts';

const left = (name: string): string => `.${name.padEnd(12, '-')}.sallyport-tmp`;

test('EXE-04 what a killed layer left of a write goes with the next write in that folder', async () => {
  await using bench = await openFileBench();
  const at = (...parts: string[]): string => join(bench.root, ...parts);
  const old = async (name: string): Promise<void> => {
    await writeFile(at(name), 'half');
    await utimes(at(name), 1, 1);
  };
  await old(left('one'));
  await old('.not-ours.sallyport-tmp');
  await old('mine.sallyport-tmp');
  await writeFile(at(left('young')), 'somebody writes to it');
  await symlink('a', at(left('link')));
  await mkdir(at(left('folder')));
  await bench.run('write', { path: 'a', content: 'x' });
  const stays = ['.not-ours.sallyport-tmp', left('folder'), left('link'), left('young'), 'a', 'mine.sallyport-tmp'];
  expect(await readdir(bench.root)).toEqual(stays.sort());
  await utimes(at(left('young')), 1, 1);
  await bench.run('edit', { path: 'a', old_string: 'x', new_string: 'y' });
  expect(await readdir(bench.root)).toEqual(stays.filter((name) => name !== left('young')).sort());
});
