import { Argument, InvalidArgumentError, Option } from 'commander';
import type { TSchema } from 'typebox';
import { EXACT_WHOLE, readWireText, TOO_LONG_NUMBER } from '../../wire-json.ts';
import { collect, count, numberIn, oneOf, seconds } from '../input/option-values.ts';

/** The part of a member's schema that options are derived from. */
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

/** How a command offers one member differently from its schema. */
export interface MemberRow {
  /** As commander writes an option, `--name <value>`; for an argument only its name. */
  readonly flags?: string;
  readonly help?: string;
  readonly parse?: (text: string, before: never) => unknown;
  readonly default?: unknown;
  /** Default: as the schema says. */
  readonly required?: boolean;
}

/** The members of an operation's input by name, and the required ones. */
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

/** True for JSON objects: their text is parsed when the command runs, since it may name a file. */
export const isJsonObject = (schema: MemberSchema): boolean => schema.type === 'object';

/** The option of a member: name, values and help come from the schema unless the row overrides them. */
export function optionOf(member: string, schema: MemberSchema, row: MemberRow, required: boolean): Option {
  const option = new Option(row.flags ?? flagsOf(member, schema), row.help ?? helpOf(member, schema));
  const parse = row.parse ?? parserOf(member, schema);
  if (parse !== undefined && !option.isBoolean()) option.argParser(parse as (text: string) => unknown);
  if (row.default !== undefined) option.default(row.default);
  return option.makeOptionMandatory(required && row.default === undefined);
}

/** The positional argument of a member. */
export function argumentOf(member: string, schema: MemberSchema, row: MemberRow, required: boolean): Argument {
  const list = schema.type === 'array' ? '...' : '';
  const name = row.flags ?? `${wordsOf(schema)?.join('|') ?? placeholderOf(member)}${list}`;
  const argument = new Argument(required ? `<${name}>` : `[${name}]`, row.help ?? helpOf(member, schema));
  const parse = row.parse ?? (schema.type === 'boolean' ? onOff : list === '' ? parserOf(member, schema) : undefined);
  return parse === undefined ? argument : argument.argParser(parse as (text: string) => unknown);
}

/**
 * `agent_did` becomes `--agent <did>`, `for_seconds` becomes `--for <duration>`; a list option is repeated per item.
 */
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

/** Names of values for options that do not follow the schema. */
const VALUE_NAMES: Readonly<Record<string, string>> = {
  after: 'place',
  'base-url': 'url',
  reason: 'text',
  note: 'text',
};

const placeholderOf = (member: string): string =>
  member.endsWith('_seconds') ? 'duration' : member.replaceAll('_', '-');

/** Words as typed: `did_not_happen` is `did-not-happen`. */
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
  const read = readWireText(text, EXACT_WHOLE);
  if (!read.ok) throw new InvalidArgumentError('This is no JSON.');
  if (read.inexact === true) throw new InvalidArgumentError(`There is a ${TOO_LONG_NUMBER}`);
  return read.value;
}

/** The schema's description in the style of help texts, with its words and limits. */
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

/** Turns `One thing. (REG-01)` into `one thing`; a leading abbreviation keeps its capitals. */
export const asHelp = (sentence: string): string =>
  sentence
    .replace(/ \([A-Z]+-[0-9]+\)/g, '')
    .replace(/\.$/, '')
    .replace(/^[A-Z](?![A-Z0-9])/, (first) => first.toLowerCase());
