// npm run pack [-- FOLDER]: makes the packages as they are published, in dist/packages, and packs each into FOLDER (default: dist).
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeBundle } from '../bundle/make-bundle.ts';
import { ROOT } from '../project-files.ts';
import { runCommand } from '../run-command.ts';
import { type Manifest, publishedManifest } from './published-manifest.ts';

const BUILT = join(ROOT, 'dist', 'packages');
const NAMES = ['std', 'guards', 'sandbox', 'sallyport'];
/** What else the layer is published with, beside what each package has. */
const OF_LAYER = ['README.md', 'CHANGELOG.md', 'docs'];

/**
 * Makes the packages and packs them.
 * @param folder takes the archives of npm
 * @throws when a fault of type is found, or a manifest names a file that is not there
 */
export async function makePackages(folder: string): Promise<void> {
  rmSync(BUILT, { recursive: true, force: true });
  await must(['tsc', '-p', 'tsconfig.build.json']);
  for (const name of NAMES) layOut(name);
  await bundleLayer();
  mkdirSync(folder, { recursive: true });
  for (const name of NAMES) {
    await must(['publint', '--pack', 'false', '--strict', join(BUILT, name)]);
    await must(['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder, join(BUILT, name)]);
  }
}

/** The manifest and what is no TypeScript. */
function layOut(name: string): void {
  const [source, built] = [join(ROOT, 'packages', name), join(BUILT, name)];
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
  const isBuilt = (path: string): boolean => path.includes('*') || existsSync(join(built, path));
  writeFileSync(join(built, 'package.json'), `${JSON.stringify(publishedManifest(manifest, isBuilt), undefined, 2)}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(built, 'LICENSE'));
  if (name === 'sallyport') {
    for (const path of OF_LAYER) cpSync(join(ROOT, path), join(built, path), { recursive: true });
    const programs = readdirSync(join(source, 'bin')).filter((file) => file.endsWith('.mjs') && file !== 'starter.mjs');
    for (const file of programs) cpSync(join(source, 'bin', file), join(built, 'bin', file));
  } else cpSync(join(source, 'README.md'), join(built, 'README.md'));
}

/** The program of the published layer starts from a bundle, as that of a clone does (docs/adr/0004). */
async function bundleLayer(): Promise<void> {
  // The names of the packages mean what was just made, not the sources.
  const scope = join(BUILT, 'node_modules', '@sallyport');
  mkdirSync(scope, { recursive: true });
  for (const name of NAMES.slice(0, -1)) symlinkSync(join('..', '..', name), join(scope, name));
  const root = join(BUILT, 'sallyport');
  await makeBundle({ root, programs: { sallyport: 'src/compose/main.js' }, folder: 'dist/bundle', isPublished: true });
  rmSync(join(BUILT, 'node_modules'), { recursive: true });
}

async function must(command: readonly [string, ...string[]]): Promise<void> {
  const { code, output } = await runCommand(command, {});
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`);
}

if (import.meta.main) await makePackages(resolve(process.argv[2] ?? join(ROOT, 'dist')));
