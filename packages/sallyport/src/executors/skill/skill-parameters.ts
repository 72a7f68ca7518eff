import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { SKILL_RUN_BOUNDS } from './settings.ts';

/** The request in a call of a skill. */
export type SkillTask =
  | { readonly what: 'instructions' }
  | { readonly what: 'file'; readonly file: SkillPackage['files'][number]; readonly offset: number }
  | {
      readonly what: 'script';
      readonly script: SkillPackage['files'][number];
      readonly args: readonly string[];
      readonly stdin: string | undefined;
    };

type Parameters = Readonly<Record<string, unknown>>;

/**
 * Parses the parameters of a call. A file is one that was imported with the skill, by its path.
 * @throws ToolLayerError E3801 for a file or script that the skill does not have, or two requests at once; E3505 for a
 *   text that is not valid as an argument
 */
export function taskOf(skill: SkillPackage, parameters: Parameters): SkillTask {
  const { script, file, arguments: args = [], stdin, offset = 0 } = parameters;
  if (script !== undefined && file !== undefined) throw refused('Give either script or file, not both.');
  if (file !== undefined) {
    const found = fileOf(skill, file);
    if (found === undefined)
      throw refused('The skill has no such file. Its instructions come with the list of its files.');
    if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) {
      throw refused('The offset must be a whole number of bytes, 0 or more.');
    }
    return { what: 'file', file: found, offset };
  }
  if (script === undefined) return { what: 'instructions' };
  const found = typeof script === 'string' && skill.scripts.includes(script) ? fileOf(skill, script) : undefined;
  if (found === undefined) throw refused(`The skill has no such script. It has: ${shown(skill.scripts)}.`);
  if (stdin !== undefined && typeof stdin !== 'string') throw refused('stdin must be a text.');
  return { what: 'script', script: found, args: argumentsOf(args), stdin };
}

const SCRIPTS_SHOWN = 20;

function shown(scripts: readonly string[]): string {
  if (scripts.length === 0) return 'none';
  const more = scripts.length > SCRIPTS_SHOWN ? ', …' : '';
  return `${scripts.slice(0, SCRIPTS_SHOWN).join(', ')}${more}`;
}

function fileOf({ files }: SkillPackage, path: unknown): SkillPackage['files'][number] | undefined {
  if (typeof path !== 'string') return undefined;
  const plain = path.startsWith('./') ? path.slice(2) : path;
  return files.find((file) => file.path === plain);
}

function argumentsOf(args: unknown): readonly string[] {
  const { argumentsMax, argumentCharsMax } = SKILL_RUN_BOUNDS;
  if (!Array.isArray(args) || args.length > argumentsMax) {
    throw refused(`arguments must be a list of ${argumentsMax} texts at most.`);
  }
  for (const arg of args as readonly unknown[]) {
    if (typeof arg !== 'string' || arg.length > argumentCharsMax || arg.includes('\0')) {
      throw injected(`Each argument must be a text of ${argumentCharsMax} characters at most, without NUL.`);
    }
  }
  return args as readonly string[];
}

function refused(message: string): ToolLayerError {
  return new ToolLayerError('E3801', message);
}

function injected(message: string): ToolLayerError {
  return new ToolLayerError('E3505', message);
}
