import { resolve } from 'node:path';
import { usageError } from '../../input/usage-error.ts';

/** `PATH`, `PATH:ro` or `PATH:rw`. */
export function mountOf(text: string, cwd: string): { path: string; mode: 'ro' | 'rw' } {
  const [, path = text, mode = 'ro'] = /^(.*):(ro|rw)$/.exec(text) ?? [];
  return { path: resolve(cwd, path), mode: mode === 'rw' ? 'rw' : 'ro' };
}

/** `HOST:PORT`. */
export function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined)
    throw usageError(`--network ${text}: write it as HOST:PORT, for example api.example.com:443.`);
  return { host, port: Number(port) };
}

/**
 * `NAME=VALUE` for several servers, by the name of the server.
 * @param option as it is typed, for the message
 */
export function byServer<Value>(
  texts: readonly string[] | undefined,
  option: string,
  read: (text: string) => Value,
): Record<string, Value[]> {
  const found: Record<string, Value[]> = {};
  for (const text of texts ?? []) {
    const [, name, value] = /^([A-Za-z0-9-]+)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw usageError(`${option} ${text}: write the name of the server before it, as in ${option} NAME=${text}.`);
    found[name] = [...(found[name] ?? []), read(value)];
  }
  return found;
}
