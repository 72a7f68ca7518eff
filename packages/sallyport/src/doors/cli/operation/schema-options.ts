import { Argument, InvalidArgumentError, Option } from 'commander';
import type { TSchema } from 'typebox';
import { collect, count, numberIn, oneOf, seconds } from '../input/option-values.ts';

/** What is read of the schema of one member of an operation's input. */
export interface MemberSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly items?: MemberSchema;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

/** How a command gives one member in another way than its schema says. */
export interface MemberRow {
  /** As commander writes an option, `--name <value>`; of an argument its name alone. */
  readonly flags?: string;
  readonly help?: string;
  readonly parse?: (text: string, before: never) => unknown;
  readonly default?: unknown;
  /** Whether it must be given. Absent: as the schema says. */
  readonly required?: boolean;
}

/** The members of an operation's input by name, and which of them it needs. */
export function membersOf(input: TSchema): {
  readonly properties: Readonly<Record<string, MemberSchema>>;
  readonly required: ReadonlySet<string>;
} {
  const { properties = {}, required = [] } = input as {
    properties?: Record<string, MemberSchema>;
    required?: string[];
  };
  return { properties, required: new Set(required) };
}

/** Whether a value is a JSON object: its text is read when the command runs, for it may name a file. */
export const isJsonObject = (schema: MemberSchema): boolean => schema.type === 'object';

/** The option of a member: its name, its values and its help are those of the schema where the row says nothing else. */
export function optionOf(member: string, schema: MemberSchema, row: MemberRow, required: boolean): Option {
  const option = new Option(row.flags ?? flagsOf(member, schema), row.help ?? helpOf(member, schema));
  const parse = row.parse ?? parserOf(member, schema);
  if (parse !== undefined && !option.isBoolean()) option.argParser(parse as (text: string) => unknown);
  if (row.default !== undefined) option.default(row.default);
  return option.makeOptionMandatory(required && row.default === undefined);
}

/** The argument of a member that is given by its place. */
export function argumentOf(member: string, schema: MemberSchema, row: MemberRow, required: boolean): Argument {
  const list = schema.type === 'array' ? '...' : '';
  const name = row.flags ?? `${wordsOf(schema)?.join('|') ?? placeholderOf(member)}${list}`;
  const argument = new Argument(required ? `<${name}>` : `[${name}]`, row.help ?? helpOf(member, schema));
  const parse = row.parse ?? (schema.type === 'boolean' ? onOff : list === '' ? parserOf(member, schema) : undefined);
  return parse === undefined ? argument : argument.argParser(parse as (text: string) => unknown);
}

/** `agent_did` is `--agent <did>`, `for_seconds` is `--for <duration>`, and a list comes one by one. */
function flagsOf(member: string, schema: MemberSchema): string {
  const [, name = member] = /^(.+)_(?:did|id|seconds)$/.exec(member) ?? [];
  const one = schema.type === 'array' ? name.replace(/s$/, '') : name;
  const word = one.replaceAll('_', '-');
  return isFlag(schema) ? `--${word}` : `--${word} <${optionValue(word, member, schema)}>`;
}

const isFlag = ({ type, const: only }: MemberSchema): boolean => type === 'boolean' || only === true;

function optionValue(name: string, member: string, schema: MemberSchema): string {
  const [, kind] = /_(did|id)$/.exec(member) ?? [];
  if (kind !== undefined) return kind;
  if (member.endsWith('_seconds')) return 'duration';
  if (schema.type === 'integer' || schema.type === 'number') return 'n';
  if (isJsonObject(schema) || (schema.type === undefined && schema.enum === undefined)) return 'json';
  return schema.format === 'date-time' ? 'time' : (VALUE_NAMES[name] ?? name);
}

/** What values are called whose options say something else. */
const VALUE_NAMES: Readonly<Record<string, string>> = {
  after: 'place',
  'base-url': 'url',
  reason: 'text',
  note: 'text',
};

const placeholderOf = (member: string): string =>
  member.endsWith('_seconds') ? 'duration' : member.replaceAll('_', '-');

/** Words as they are typed: `did_not_happen` is `did-not-happen`. */
const wordsOf = (schema: MemberSchema): readonly string[] | undefined =>
  schema.type === 'boolean' ? ['on', 'off'] : schema.enum?.map((word) => word.replaceAll('_', '-'));

function parserOf(member: string, schema: MemberSchema): ((text: string, before: never) => unknown) | undefined {
  const { type, minimum = 0, maximum, enum: words } = schema;
  if (words !== undefined) return wordOf(words);
  if (type === 'array') return listOf(parserOf(member, schema.items ?? {}));
  if (member.endsWith('_seconds')) return type === 'integer' ? (text: string) => Math.round(seconds(text)) : seconds;
  if (type === 'integer') return minimum > 0 ? count : numberIn(minimum, maximum);
  if (type === 'number') return numberIn(minimum, maximum);
  return type === undefined ? json : undefined;
}

function listOf(parse: ((text: string, before: never) => unknown) | undefined) {
  return parse === undefined
    ? collect
    : (text: string, before: readonly unknown[] = []) => [...before, parse(text, undefined as never)];
}

function wordOf(words: readonly string[]): (text: string) => string {
  const typed = words.map((word) => word.replaceAll('_', '-'));
  const one = oneOf(typed);
  return (text) => words[typed.indexOf(one(text))] ?? text;
}

function onOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Write on or off.');
  return text === 'on';
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('This is no JSON.');
  }
}

/** The sentence of the schema as help is written, with its words and bounds. */
function helpOf(member: string, schema: MemberSchema): string {
  const { description = '', maximum, default: usual, type } = schema;
  if (member.endsWith('_seconds')) return `${asHelp(description)} (such as 15m)`;
  const words = type === 'boolean' ? undefined : wordsOf(schema)?.join(', ');
  const sentence = [asHelp(description), words].filter((part) => part !== undefined && part !== '').join(': ');
  return [
    sentence,
    ...(usual === undefined || isFlag(schema) ? [] : [`${String(usual)} when absent`]),
    ...(maximum === undefined || type !== 'integer' ? [] : [`${maximum} at most`]),
  ].join(', ');
}

/** `One thing. (REG-01)` as `one thing`; what begins with an abbreviation keeps it. */
export const asHelp = (sentence: string): string =>
  sentence
    .replace(/ \([A-Z]+-[0-9]+\)/g, '')
    .replace(/\.$/, '')
    .replace(/^[A-Z](?![A-Z0-9])/, (first) => first.toLowerCase());
