import { readdir, readFile } from 'node:fs/promises';

/** Process ids whose command line holds the text; arguments are separated by NUL. */
export async function processesWith(text: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return ids.filter((_id, i) => lines[i]?.includes(text));
}
