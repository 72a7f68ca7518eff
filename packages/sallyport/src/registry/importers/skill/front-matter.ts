import { KiB } from '@sallyport/std/bytes';
import type { Fault } from '../../../../api/schemas/error.ts';
import { readYaml, sayFault } from '../../../domain/shape/read-yaml.ts';
import { plainCopy } from '../../foreign/plain-json.ts';

/** Longest front matter, in characters. */
const FRONT_MATTER_CHARS_MAX = 64 * KiB;

/** A SKILL.md in its two parts. */
export interface SkillText {
  readonly front: Readonly<Record<string, unknown>>;
  /** The text after the front matter, unchanged. */
  readonly body: string;
}

/** Parses the text of a SKILL.md, or returns the fault of its front matter. */
export function readSkillText(text: string): SkillText | Fault {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  if (found === null) {
    return {
      ...fault('must begin with a front matter between two lines of ---'),
      hint: 'Write name and description there.',
    };
  }
  const [whole, yaml = ''] = found;
  if (yaml.length > FRONT_MATTER_CHARS_MAX) {
    return fault(`has a front matter of ${yaml.length} characters, more than ${FRONT_MATTER_CHARS_MAX}`);
  }
  const front = mappingOf(yaml);
  return 'message' in front ? front : { front: front.value, body: text.slice(whole.length) };
}

function mappingOf(yaml: string): { readonly value: Record<string, unknown> } | Fault {
  const read = readYaml(yaml);
  if ('faults' in read) return fault(`has a front matter that is no YAML: ${sayFault(read.faults[0])}`);
  const { value, faults } = plainCopy(read.value ?? {});
  const [odd] = faults;
  if (odd !== undefined) return fault(`has a front matter that JSON cannot hold: ${odd.path} ${odd.message}`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { value: value as Record<string, unknown> };
  }
  return fault('has a front matter that is no mapping of names to values');
}

const fault = (message: string): Fault => ({ path: '/SKILL.md', code: 'E3008', keyword: 'front-matter', message });
