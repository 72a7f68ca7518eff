import { sha256 } from '@sallyport/std/sha256';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { cutText, type IsRegistered, releaseOf, toolIdOf } from '../../foreign/tool-ids.ts';
import type { SkillFile } from '../../importer.port.ts';
import type { SkillPackage } from '../../skill-package.ts';
import type { SkillText } from './front-matter.ts';

const NAME_CHARS_MAX = 255;
const DESCRIPTION_CHARS_MAX = 65_536;
const TAGS_MAX = 64;
const TAG_CHARS_MAX = 64;
const SCRIPT_NAME = /\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl|php|lua|ps1)$/i;

/** Place of a skill in an import. */
export interface SkillPlace {
  /** Path of its SKILL.md, relative to its folder. */
  readonly entry: string;
  readonly folder: string;
  readonly files: readonly SkillFile[];
  /** Prefix of the tool id. */
  readonly source: string;
  readonly isRegistered: IsRegistered | undefined;
}

/** A skill as a manifest, or every fault of its front matter. */
export function skillManifest(
  { front, body }: SkillText,
  { entry, files, source, isRegistered }: SkillPlace,
): ToolManifest | Fault[] {
  const { name, description, version, license, compatibility, metadata, tags, ...rest } = front;
  const { 'allowed-tools': allowed, ...others } = rest;
  const faults = [...textFault('name', name), ...textFault('description', description)];
  if (faults.length > 0) return faults;
  const scripts = files.filter(isScript).map(({ path }) => path);
  const kept = { ...others, ...membersOf(metadata) };
  const allowedTools = wordsOf(allowed);
  const config: SkillPackage = {
    entry,
    instructions: body,
    files: files
      .map(({ path, bytes }) => ({ path, sha256: sha256(bytes), bytes: bytes.length }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    scripts: scripts.sort(),
    ...(allowedTools.length === 0 ? {} : { allowed_tools: allowedTools }),
    ...(isText(license) ? { license } : {}),
    ...(isText(compatibility) ? { compatibility } : {}),
    ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }),
  };
  const labels = [...new Set(['skill', ...wordsOf(tags)])].filter((tag) => tag.length <= TAG_CHARS_MAX);
  return {
    tool_id: toolIdOf(source, String(name), isRegistered),
    tool_name: cutText(String(name), NAME_CHARS_MAX),
    version: releaseOf(String(version ?? membersOf(metadata)['version'] ?? '')),
    description: cutText(String(description).trim(), DESCRIPTION_CHARS_MAX),
    tags: labels.slice(0, TAGS_MAX),
    parameters_schema: parametersFor(scripts),
    // Without scripts there is only text to read.
    side_effect_policy: scripts.length === 0 ? 'pure' : 'irreversible',
    executor: { kind: 'skill', config: { ...config } },
  };
}

/** Parameters: none for the instructions, a file to read, or one of the scripts with its arguments. */
function parametersFor(scripts: readonly string[]): ToolManifest['parameters_schema'] {
  const task = { type: 'string', description: 'What is to be done with the skill, in words; for the record.' };
  const file = { type: 'string', description: 'File of the skill to read; the instructions come with their list.' };
  const offset = { type: 'integer', minimum: 0, description: 'Where in the file to begin, in bytes.' };
  const script = {
    type: 'string',
    enum: scripts,
    description: 'Script of the skill to run; none for its instructions.',
  };
  const list = { type: 'array', items: { type: 'string' }, description: 'Arguments of the script.' };
  const input = { type: 'string', description: 'Standard input of the script.' };
  return {
    type: 'object',
    properties: { task, file, offset, ...(scripts.length === 0 ? {} : { script, arguments: list, stdin: input }) },
    additionalProperties: false,
  };
}

function isScript({ path, bytes, executable }: SkillFile): boolean {
  const hasShebang = bytes[0] === 0x23 && bytes[1] === 0x21;
  return executable === true || hasShebang || SCRIPT_NAME.test(path);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** A list, or the words of a text separated by commas or white space; brackets keep their content together. */
function wordsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter(isText).map((word) => word.trim());
  return isText(value) ? (value.match(/(?:\([^()]*\)|[^\s,(])+/g) ?? []) : [];
}

function textFault(member: string, value: unknown): Fault[] {
  if (isText(value)) return [];
  const message = value === undefined ? `has no ${member} in its front matter` : `has a ${member} that is no text`;
  const hint = `Write "${member}: …" between the lines of ---.`;
  return [{ path: `/SKILL.md/${member}`, code: 'E3008', keyword: 'front-matter', message, hint }];
}
