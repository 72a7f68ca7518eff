import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const MODULES = join(HERE, 'node_modules');
/** Inside the installed packages: the hash of the lock file that they were installed from. */
const STAMP = '.installed-from';
/** What npm says when there is no registry to ask; everything else is a fault that a test has to show. */
const NO_REGISTRY = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;
const MANIFESTS = ['package.json', 'package-lock.json', '.npmrc'];

/** Where the published packages are, or why they are not there. */
export type Published = { readonly modules: string } | { readonly reason: string };

/**
 * Installs the packages of this folder, at the first run and after each change of its lock file, without their scripts.
 * They are asked for by `SALLYPORT_PUBLISHED=1`, since they take four minutes beside the other tests. Without that, and on a machine that
 * reaches no registry, there is a reason; the tests are skipped with it.
 */
export async function installPublished(): Promise<Published> {
  if (process.env['SALLYPORT_PUBLISHED'] !== '1') return skipped('SALLYPORT_PUBLISHED=1 asks for them');
  const wanted = createHash('sha256')
    .update(await readFile(join(HERE, 'package-lock.json')))
    .digest('hex');
  if ((await installedFrom()) === wanted) return { modules: MODULES };
  // Another file of tests may install at the same time: each installs apart, and the first to end puts its own in place.
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

/** Says why on the terminal too, where a skipped test shows no reason. */
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
