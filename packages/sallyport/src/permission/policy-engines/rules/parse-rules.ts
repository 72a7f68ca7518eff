import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse, TomlError } from 'smol-toml';
import type { PolicyEffect, PolicyRule } from '../../../../api/schemas/policy.ts';
import type { PolicyFile } from '../../policies/policy-files.ts';
import type { PolicyFault } from '../../policy-engine.port.ts';
import { CONDITIONS, type RuleCondition } from './rule-conditions.ts';

/** One parsed rule. */
export interface StaticRule {
  readonly rule: PolicyRule;
  /** All must hold; a rule without conditions matches every call. */
  readonly conditions: readonly RuleCondition[];
}

/** Rules in the order of evaluation. */
export interface RuleSet {
  readonly rules: readonly StaticRule[];
  /** Entries of the files that are not in force. */
  readonly notes: readonly PolicyFault[];
}

/** Most rules of one folder. */
const RULES_MAX = 10_000;
const EFFECTS: readonly PolicyEffect[] = ['allow', 'deny', 'ask'];

/**
 * Reads rules: of all files in the order of their names first `[[tools.policy]]`, then `[[tools.authorization.rules]]`,
 * which count only where `[tools.authorization]` says `enabled = true`.
 * @throws E3214 with file and place when something is not valid
 */
export function parseRules(files: readonly PolicyFile[]): RuleSet {
  const read = files.map(readFile);
  const rules = [...read.flatMap(({ policy }) => policy), ...read.flatMap(({ authorization }) => authorization)];
  if (rules.length > RULES_MAX) throw new ToolLayerError('E3214', `There are more than ${RULES_MAX} rules.`);
  const names = new Set<string>();
  for (const { rule } of rules) {
    if (names.has(rule.name)) throw faultIn(rule.file ?? '', rule.line, `the name "${rule.name}" is used twice`);
    names.add(rule.name);
  }
  const none = rules.length > 0 ? [] : [{ message: 'There are no rules in force, so every call is denied.' }];
  return { rules, notes: [...read.flatMap(({ notes }) => notes), ...none] };
}

interface ReadFile {
  readonly policy: readonly StaticRule[];
  readonly authorization: readonly StaticRule[];
  readonly notes: readonly PolicyFault[];
}

function readFile(file: PolicyFile): ReadFile {
  const top = tableIn(file, 'the file', parseToml(file), ['tools']);
  const tools = tableIn(file, 'tools', top['tools'] ?? {}, ['policy', 'authorization']);
  const authorization = tableIn(file, 'tools.authorization', tools['authorization'] ?? {}, ['enabled', 'rules']);
  const { enabled = false } = authorization;
  if (typeof enabled !== 'boolean') throw faultIn(file.name, undefined, 'tools.authorization.enabled is true or false');
  const rules = rulesIn(file, 'tools.authorization.rules', authorization['rules'] ?? []);
  const message = `${file.name}: ${rules.length} rules of tools.authorization are not in force. Set enabled = true there.`;
  return {
    policy: rulesIn(file, 'tools.policy', tools['policy'] ?? []),
    authorization: enabled ? rules : [],
    notes: enabled || rules.length === 0 ? [] : [{ message, file: file.name }],
  };
}

function parseToml({ name, text }: PolicyFile): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const line = cause instanceof TomlError ? cause.line : undefined;
    throw faultIn(name, line, `it is not valid TOML: ${String(cause).split('\n')[0] ?? ''}`, cause);
  }
}

type Table = Readonly<Record<string, unknown>>;

function tableIn({ name }: PolicyFile, place: string, value: unknown, keys: readonly string[]): Table {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw faultIn(name, undefined, `${place} must be a table`);
  const odd = Object.keys(value).find((key) => !keys.includes(key));
  if (odd !== undefined) throw faultIn(name, undefined, `${place} has no key ${odd}; it has ${keys.join(', ')}`);
  return value as Table;
}

function rulesIn(file: PolicyFile, place: string, value: unknown): readonly StaticRule[] {
  if (!Array.isArray(value)) throw faultIn(file.name, undefined, `${place} must be written as [[${place}]]`);
  const lines = linesOf(file.text, `[[${place}]]`);
  return value.map((rule: unknown, index) => ruleIn(file, `${place} ${index + 1}`, lines[index], rule));
}

const linesOf = (text: string, heading: string): number[] =>
  text.split('\n').flatMap((line, index) => (line.replaceAll(/\s/g, '').startsWith(heading) ? [index + 1] : []));

function ruleIn(file: PolicyFile, place: string, line: number | undefined, value: unknown): StaticRule {
  const keys = ['id', 'effect', ...Object.keys(CONDITIONS)];
  const { id, effect, ...wanted } = tableIn(file, place, value, keys);
  const known = EFFECTS.find((each) => each === effect);
  if (known === undefined) throw faultIn(file.name, line, `${place}: effect is one of ${EFFECTS.join(', ')}`);
  if (id !== undefined && typeof id !== 'string') throw faultIn(file.name, line, `${place}: id is a text`);
  const conditions = Object.entries(wanted).map(([key, given]) => {
    const words = typeof given === 'string' ? [given] : given;
    if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === 'string'))
      throw faultIn(file.name, line, `${place}: ${key} is a text or a list of texts`);
    const condition = CONDITIONS[key]?.(words as string[]);
    if (condition === undefined || typeof condition === 'string')
      throw faultIn(file.name, line, `${place}: ${condition ?? `there is no key ${key}`}`);
    return condition;
  });
  const name = `${file.name}:${id ?? place.replace(/^tools\./, '').replace(' ', '.')}`;
  const shown = { name, effect: known, mode: 'enforce', file: file.name } as const;
  return { rule: { ...shown, ...(line === undefined ? {} : { line }), text: textOf(value as Table) }, conditions };
}

const textOf = (rule: Table): string =>
  Object.entries(rule)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n');

function faultIn(file: string, line: number | undefined, what: string, cause?: unknown): ToolLayerError {
  const place = line === undefined ? file : `${file}, line ${line}`;
  return new ToolLayerError('E3214', `Rule file ${place}: ${what}.`, {
    details: { file, ...(line === undefined ? {} : { line }) },
    cause,
  });
}
