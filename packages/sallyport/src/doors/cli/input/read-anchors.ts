import type { Anchor } from '../../../../api/schemas/audit.ts';
import { readWireText } from '../../wire-json.ts';
import type { CliIo } from '../cli-parts.ts';
import { readSource } from './read-source.ts';
import { usageError } from './usage-error.ts';

/**
 * Anchors, one per line, as `audit anchor` prints them and `audit.anchor_file` holds them. The layer checks whether
 * they are genuine.
 * @throws a usage error for a line that is no anchor, and for a file without anchors: nothing would be compared
 */
export async function readAnchors(file: string, io: CliIo): Promise<readonly Anchor[]> {
  const name = file === '-' ? 'Standard input' : file;
  const anchors: Anchor[] = [];
  for (const [at, line] of (await readSource(file, io)).split('\n').entries()) {
    if (line.trim() === '') continue;
    const read = readWireText(line);
    if (!read.ok || !isAnchor(read.value)) {
      throw usageError(`${name}, line ${at + 1} is no anchor. Give what "sallyport audit anchor" printed.`);
    }
    anchors.push(read.value);
  }
  if (anchors.length === 0) throw usageError(`${name} holds no anchor.`);
  return anchors;
}

const TEXTS = ['chain_id', 'hash', 'time', 'key_id', 'signature'] as const;

function isAnchor(value: unknown): value is Anchor {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Number.isSafeInteger(fields['seq']) && TEXTS.every((name) => typeof fields[name] === 'string');
}
