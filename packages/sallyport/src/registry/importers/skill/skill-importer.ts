import { isUtf8 } from 'node:buffer';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ImportedTools, SkillFile, SkillImporter } from '../../importer.port.ts';
import { readSkillText } from './front-matter.ts';
import { type SkillPlace, skillManifest } from './skill-manifest.ts';
import { fileFaults, SKILL_BOUNDS } from './skill-paths.ts';

/** Default prefix of the tool ids. */
const SKILL_SOURCE = 'skill';
const ENTRY = /^(?:(.*)\/)?skill\.md$/i;

/**
 * Turns folders with a SKILL.md into manifests of kind `skill`, one each: a file belongs to the innermost folder with a
 * SKILL.md around it. Names, texts and hashes are kept; the contents of other files are not.
 * @throws ToolLayerError E3008 for paths that leave the folder, too many or too large files, and when nothing is a
 *   skill
 */
export const importSkills: SkillImporter = (files, options = {}): ImportedTools => {
  const faults = fileFaults(files);
  if (faults.length > 0) throw refused(faults);
  const source = options.name ?? SKILL_SOURCE;
  const folders = foldersOf(files);
  const manifests = new Map<string, ToolManifest>();
  const skipped: { place: string; reason: string }[] = [];
  const found: Fault[] = [];
  for (const [folder, within] of folders) {
    const made = skillOf(folder, within, { source, isRegistered: options.isRegistered });
    const place = folder === '' ? 'SKILL.md' : `${folder}/SKILL.md`;
    if (Array.isArray(made)) {
      found.push(...made.map((fault) => ({ ...fault, path: fault.path.replace(/^\/SKILL\.md/, `/${place}`) })));
      skipped.push({ place, reason: made.map(({ message }) => `it ${message}`).join('; ') });
    } else if (manifests.has(made.tool_id)) {
      skipped.push({
        place,
        reason: `The id ${made.tool_id} belongs to another skill of these files; rename one of the two.`,
      });
    } else manifests.set(made.tool_id, made);
  }
  if (folders.size === 0)
    throw refused([fault('/files', 'holds no SKILL.md; name the folder of a skill, or one of several')]);
  if (manifests.size === 0) throw refused(found);
  for (const { path } of files) {
    if (folderOf(path, folders) === undefined)
      skipped.push({ place: path, reason: 'it belongs to no folder with a SKILL.md' });
  }
  return { source, manifests: [...manifests.values()], skipped };
};

/** Files by the folder of their skill, paths relative to it. */
function foldersOf(files: readonly SkillFile[]): Map<string, SkillFile[]> {
  const folders = new Map<string, SkillFile[]>();
  for (const { path } of files) {
    const entry = ENTRY.exec(path);
    if (entry !== null) folders.set(entry[1] ?? '', []);
  }
  for (const file of files) {
    const folder = folderOf(file.path, folders);
    if (folder === undefined) continue;
    folders.get(folder)?.push({ ...file, path: folder === '' ? file.path : file.path.slice(folder.length + 1) });
  }
  return folders;
}

/** The innermost folder of a skill around a file. */
function folderOf(path: string, folders: ReadonlyMap<string, unknown>): string | undefined {
  let folder = path;
  while (folder !== '') {
    folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
    if (folders.has(folder)) return folder;
  }
  return undefined;
}

type Of = Pick<SkillPlace, 'source' | 'isRegistered'>;

function skillOf(folder: string, files: readonly SkillFile[], of: Of): ToolManifest | Fault[] {
  const entry = files.find(({ path }) => ENTRY.test(path) && !path.includes('/'));
  if (entry === undefined) return [fault('/SKILL.md', 'is missing')];
  if (entry.bytes.length > SKILL_BOUNDS.entryBytes) {
    return [fault('/SKILL.md', `has ${entry.bytes.length} bytes, more than ${SKILL_BOUNDS.entryBytes}`)];
  }
  if (!isUtf8(entry.bytes)) return [fault('/SKILL.md', 'is no text in UTF-8')];
  const text = readSkillText(new TextDecoder('utf-8', { ignoreBOM: true }).decode(entry.bytes));
  if ('message' in text) return [text];
  return skillManifest(text, { entry: entry.path, folder, files, ...of });
}

const fault = (path: string, message: string): Fault => ({ path, code: 'E3008', keyword: 'skill', message });

function refused(faults: readonly Fault[]): ToolLayerError {
  const [first] = faults;
  const hint = first?.hint === undefined ? '' : ` ${first.hint}`;
  return new ToolLayerError(
    'E3008',
    `The skill cannot be imported: ${first?.path.slice(1)} ${first?.message}.${hint}`,
    {
      details: { faults: faults.slice(0, 20) },
    },
  );
}
