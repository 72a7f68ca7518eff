import type { CliIo } from '../../cli-parts.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';

/** A token or key from the command line, or from standard input when there is none or `-`. */
export async function readCredential(given: string | string[] | undefined, io: CliIo): Promise<string> {
  const text = given === undefined || given === '-' ? await readSource('-', io) : String(given);
  const credential = text.trim();
  if (credential === '') throw usageError('There is no token. Give it as an argument or on standard input.');
  return credential;
}
