import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { makeBundle } from '../../../scripts/bundle/make-bundle.ts';
import { ROOT } from '../../../scripts/project-files.ts';

/** The program that each process of the layer runs. */
export interface LayerProgram extends Disposable {
  /** Arguments of Node. */
  readonly args: readonly string[];
}

/**
 * Bundles the layer that is killed into one program, as `npm start` does. From the sources each start would load two
 * thousand modules, which would take more time than the rest of the test and is not what is tested.
 */
export async function makeLayerProgram(): Promise<LayerProgram> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kill-program-')));
  // Packages that are not bundled are resolved from the folders above the bundle.
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
