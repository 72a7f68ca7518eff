import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const MODULES = join(HERE, 'node_modules');
/** File inside the installed packages with the hash of the lock file that they were installed from. */
const STAMP = '.installed-from';
/** Error codes of npm that mean that no registry can be reached; with any other error the tests fail. */
const NO_REGISTRY = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;
const MANIFESTS = ['package.json', 'package-lock.json', '.npmrc'];

/** The folder of the published packages, or the reason why they are not installed. */
export type Published = { readonly modules: string } | { readonly reason: string };

/**
 * Installs the packages of this folder without their scripts, at the first run and after each change of the lock file.
 * Only with `SALLYPORT_PUBLISHED=1`, because the tests of these packages take four minutes. Without that setting, and
 * where no registry can be reached, the tests are skipped with the returned reason.
 */
export async function installPublished(): Promise<Published> {
  if (process.env['SALLYPORT_PUBLISHED'] !== '1') return skipped('SALLYPORT_PUBLISHED=1 asks for them');
  const wanted = createHash('sha256')
    .update(await readFile(join(HERE, 'package-lock.json')))
    .digest('hex');
  if ((await installedFrom()) === wanted) return { modules: MODULES };
  // Another test file may install at the same time: each installs into a folder of its own, and the first to finish
  // renames it.
  const apart = await mkdtemp(join(HERE, 'node_modules-'));
  try {
    for (const name of MANIFESTS) await copyFile(join(HERE, name), join(apart, name));
    const { code, said } = await npm(['ci', '--ignore-scripts'], apart);
    if (code !== 0 && NO_REGISTRY.test(said)) return skipped(`no registry is reached: ${said.slice(0, 200)}`);
    if (code !== 0) throw new Error(`npm ci in test/published failed: ${said}`);
    await writeFile(join(apart, 'node_modules', STAMP), wanted);
    if ((await installedFrom()) !== wanted) {
      await rm(MODULES, { recursive: true, force: true });
      await rename(join(apart, 'node_modules'), MODULES);
    }
    return { modules: MODULES };
  } finally {
    await rm(apart, { recursive: true, force: true });
  }
}

/** Prints the reason too, because the terminal shows no reason for a skipped test. */
function skipped(reason: string): Published {
  console.warn(`The tests of published clients and servers are skipped: ${reason}`);
  return { reason };
}

async function installedFrom(): Promise<string | undefined> {
  return readFile(join(MODULES, STAMP), 'utf8').catch(() => undefined);
}

function npm(args: readonly string[], cwd: string): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, said }));
  });
}
