import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of this instance: its hash chain and the calls it runs carry it. Made once for each data folder. */
export async function loadInstanceId(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'instance-id');
  const known = await readFile(path, 'utf8').catch(() => '');
  if (/^[0-9a-f-]{36}$/.test(known.trim())) return known.trim();
  const made = randomUUID();
  await writeFile(path, `${made}\n`, { mode: 0o600 });
  return made;
}
