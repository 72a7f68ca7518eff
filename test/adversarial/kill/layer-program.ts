import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { makeBundle } from '../../../scripts/bundle/make-bundle.ts';
import { ROOT } from '../../../scripts/project-files.ts';

/** What each life of a layer runs. */
export interface LayerProgram extends Disposable {
  /** Arguments of Node. */
  readonly args: readonly string[];
}

/**
 * Puts the layer that is killed into one program, as `npm start` does. From the sources each life would load two thousand
 * modules first, which took more time than all the rest of the test and is no part of what is tried.
 */
export async function makeLayerProgram(): Promise<LayerProgram> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kill-program-')));
  // Packages that are no part of a bundle are looked for in the folders above it.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const programs = { layer: 'test/adversarial/killed-layer.ts' };
  const bundle = await makeBundle({ root: ROOT, programs, folder: relative(ROOT, join(folder, 'bundle')) });
  return {
    args: [
      join(ROOT, 'packages/sallyport/bin/load-bundle.mjs'),
      'run',
      join(folder, 'bundle', bundle.programs['layer'] ?? ''),
    ],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
