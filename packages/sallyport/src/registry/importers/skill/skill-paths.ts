import { KiB, MiB } from '@sallyport/std/bytes';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { SkillFile } from '../../importer.port.ts';

/** Limits of one import of skills. */
export const SKILL_BOUNDS = {
  files: 512,
  pathChars: 512,
  /** All files together, in bytes. */
  bytes: 8 * MiB,
  /** SKILL.md alone, in bytes: it becomes part of the manifest. */
  entryBytes: 512 * KiB,
} as const;

/** Faults of the list of files; when there are any, nothing else is checked. */
export function fileFaults(files: readonly SkillFile[]): Fault[] {
  const { files: filesMax, bytes: bytesMax } = SKILL_BOUNDS;
  if (files.length > filesMax) return [fault('/files', 'size', `holds ${files.length} files, more than ${filesMax}`)];
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes > bytesMax) return [fault('/files', 'size', `hold ${bytes} bytes, more than ${bytesMax}`)];
  const seen = new Set<string>();
  return files.flatMap(({ path }, index) => {
    const at = pointerTo(pointerTo('/files', index), 'path');
    const why = pathFault(path);
    if (why !== undefined) return [fault(at, 'path', why)];
    // On many file systems two spellings of one name would overwrite each other.
    const folded = path.normalize('NFC').toLowerCase();
    if (seen.has(folded)) return [fault(at, 'path', 'names a file that is in the list already')];
    seen.add(folded);
    return [];
  });
}

function pathFault(path: string): string | undefined {
  if (path.length === 0 || path.length > SKILL_BOUNDS.pathChars) {
    return `must have 1 to ${SKILL_BOUNDS.pathChars} characters`;
  }
  if (/[\p{Cc}\\]/u.test(path) || /^[A-Za-z]:/.test(path)) {
    return 'must be separated by slashes, without a drive, backslashes and control characters';
  }
  const segments = path.split('/');
  const isOdd = segments.some((segment) => segment === '' || segment === '.' || segment === '..');
  return isOdd ? 'must be relative to the folder, without empty, . and .. segments' : undefined;
}

const fault = (path: string, keyword: string, message: string): Fault => ({ path, code: 'E3008', keyword, message });
