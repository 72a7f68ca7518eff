import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'instance-id';
const FORM = /^[0-9a-f-]{36}$/;

/** The name of this instance, which its hash chain and its calls carry. Made once for each data folder. */
export async function loadInstanceId(dataFolder: string): Promise<string> {
  const path = join(dataFolder, FILE);
  const known = await knownId(dataFolder);
  if (known !== undefined) return known;
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${randomUUID()}\n`, { mode: 0o600 });
    // Of processes that start at once the first one's name stays; a file without a valid name is replaced.
    await link(draft, path).catch(async () => {
      if ((await knownId(dataFolder)) === undefined) await rename(draft, path);
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** True when a layer has used this data folder. */
export async function hasInstanceId(dataFolder: string): Promise<boolean> {
  return (await knownId(dataFolder)) !== undefined;
}

async function knownId(dataFolder: string): Promise<string | undefined> {
  const text = await readFile(join(dataFolder, FILE), 'utf8').catch(() => '');
  return FORM.test(text.trim()) ? text.trim() : undefined;
}
