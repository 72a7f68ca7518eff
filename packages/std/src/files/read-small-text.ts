import { readFile } from 'node:fs/promises';
import { KiB } from '../bytes.ts';

/** Characters of a file that a person writes. */
const CHARACTERS_MAX = 256 * KiB;

/**
 * The text of a file that a person writes.
 * @param fault makes the error from what is wrong with the file, such as `cannot be read`
 * @returns undefined when there is no such file
 */
export async function readSmallText(
  path: string,
  fault: (what: string, cause?: unknown) => Error,
): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault('cannot be read', cause);
  }
  if (text.length > CHARACTERS_MAX) throw fault(`has more than ${CHARACTERS_MAX} characters`);
  return text;
}
