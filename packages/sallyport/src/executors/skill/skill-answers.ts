import { isUtf8 } from 'node:buffer';
import type { SkillPackage } from '../../registry/skill-package.ts';

/** Result of a call without a script and a file. */
export interface SkillInstructions {
  /** The text of SKILL.md after its front matter, in Markdown. */
  readonly instructions: string;
  /** Every file that can be read with `file`. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Files that can be run with `script`. */
  readonly scripts: readonly string[];
  /** Tools that its author intended; a hint, not a permission. */
  readonly allowed_tools?: readonly string[];
  readonly compatibility?: string;
}

/** Result of a call with a file: `text` for UTF-8, else `base64`. */
export interface SkillFileContent {
  readonly path: string;
  /** Size of the whole file. */
  readonly bytes: number;
  readonly offset: number;
  readonly text?: string;
  readonly base64?: string;
  /** True when the file continues at `next_offset`. */
  readonly truncated: boolean;
  readonly next_offset?: number;
}

/** The instructions of a skill and the list of its files. */
export function instructionsOf(skill: SkillPackage): SkillInstructions {
  const { instructions, files, scripts, allowed_tools, compatibility, entry } = skill;
  return {
    instructions,
    files: files.filter(({ path }) => path !== entry).map(({ path, bytes }) => ({ path, bytes })),
    scripts,
    ...(allowed_tools === undefined ? {} : { allowed_tools }),
    ...(compatibility === undefined ? {} : { compatibility }),
  };
}

/**
 * A part of a file, as large as fits.
 * @param offset where to begin, bytes
 * @param bytesMax of the answer
 */
export function contentOf(path: string, content: Buffer, offset: number, bytesMax: number): SkillFileContent {
  const isText = isUtf8(content);
  const room = isText ? Math.max(1, bytesMax) : Math.max(3, Math.floor(bytesMax / 4) * 3);
  let end = Math.min(content.length, offset + room);
  // A character is never cut in two.
  if (isText) while (end > offset && end < content.length && isContinuation(content[end])) end -= 1;
  const part = content.subarray(Math.min(offset, content.length), end);
  const truncated = end < content.length;
  return {
    path,
    bytes: content.length,
    offset,
    ...(isText ? { text: part.toString('utf8') } : { base64: part.toString('base64') }),
    truncated,
    ...(truncated ? { next_offset: end } : {}),
  };
}

/** True for a byte inside a UTF-8 character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
