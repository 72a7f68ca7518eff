import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { fault, outside, shown } from '../confinement/refusals.ts';
import { resolvePlace } from '../confinement/resolve-place.ts';
import type { EditParameters } from '../parameters.ts';
import { type DetectedEncoding, detectEncoding, encodeText, HEAD_BYTES, textDecoder } from '../text/encoding.ts';
import type { FileTask } from './file-task.ts';
import { currentFile, replaceFile } from './replace-file.ts';
import { checkExpected, checkSize, checkWritable, inTurn } from './write-file.ts';

/** The tool `file_edit`. */
export async function editFile(task: FileTask, parameters: EditParameters): Promise<Record<string, unknown>> {
  const { path: requested, expected_sha256: expected } = parameters;
  if (parameters.old_string === parameters.new_string) {
    throw new ToolLayerError('E3509', 'old_string and new_string are the same, so nothing would change.');
  }
  await using place = await resolvePlace(task, requested);
  checkWritable(task, place, requested);
  if (place.node === undefined) throw fault(`${shown(requested)} does not exist.`);
  const { folder, name, path } = place;
  if (folder === undefined) throw outside(requested);
  const target = { folder, name, path };
  return await inTurn(task, target, async () => {
    const current = await currentFile(task, target, task.bounds.writeBytesMax, task.bounds.writeBytesMax);
    if (current?.content === undefined) throw fault(`${shown(requested)} does not exist.`);
    checkExpected(expected, current.before.sha256, path);
    const { content, replacements } = edited(current.content, parameters, requested);
    checkSize(content, task.bounds.writeBytesMax);
    const { sha256 } = await replaceFile(task, target, content, current);
    return { path, replacements, bytes: content.length, sha256, before: current.before };
  });
}

interface Edited {
  readonly content: Buffer;
  readonly replacements: number;
}

function edited(bytes: Buffer, parameters: EditParameters, requested: string): Edited {
  const detected = detectEncoding(bytes.subarray(0, HEAD_BYTES));
  if (detected.encoding === 'binary') throw fault(`${shown(requested)} is no text. Write it whole, in Base64.`);
  const text = exactText(bytes, detected, requested);
  const { from, to } = inLineEndsOf(text, parameters);
  const count = occurrences(text, from);
  if (count === 0) {
    throw fault(`old_string does not occur in ${shown(requested)}. Read the file and copy the text exactly.`);
  }
  if (count > 1 && parameters.replace_all !== true) {
    throw fault(
      `old_string occurs ${count} times in ${shown(requested)}. Give more of the text around it, or say replace_all: true.`,
    );
  }
  const changed = text.split(from).join(to);
  const content = encodeText(changed, detected);
  if (decoded(content, detected) !== changed) {
    throw fault(
      `new_string holds characters that ${detected.encoding}, the encoding of ${shown(requested)}, does not have.`,
    );
  }
  return { content, replacements: count };
}

const decoded = (bytes: Uint8Array, detected: DetectedEncoding): string => textDecoder(detected)(bytes, true);

/** The text, provided that decoding and encoding reproduce every byte of the file. */
function exactText(bytes: Buffer, detected: DetectedEncoding, requested: string): string {
  const text = decoded(bytes, detected);
  if (encodeText(text, detected).equals(bytes)) return text;
  throw fault(`${shown(requested)} is not valid ${detected.encoding} throughout, so an edit could damage it.`);
}

/** When all lines of a file end with CRLF, the strings are converted to CRLF too. */
function inLineEndsOf(
  text: string,
  { old_string: from, new_string: to }: EditParameters,
): { from: string; to: string } {
  const isCrlf = text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text);
  if (!isCrlf) return { from, to };
  const convert = (part: string): string => part.replace(/\r?\n/g, '\r\n');
  return { from: convert(from), to: convert(to) };
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
