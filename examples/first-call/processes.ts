import { readdir, readFile } from 'node:fs/promises';

/** Process ids whose command line holds the text; arguments are separated by NUL. */
export function processesWith(text: string): Promise<string[]> {
  return processesWhere((line) => line.includes(text));
}

/** Process ids whose whole command line this is, each argument ended by NUL. */
export function processesThatAre(commandLine: string): Promise<string[]> {
  return processesWhere((line) => line === commandLine);
}

async function processesWhere(holds: (commandLine: string) => boolean): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return ids.filter((_id, i) => holds(lines[i] ?? ''));
}
