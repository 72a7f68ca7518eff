import { isSecret, placeOf } from '../danger/paths.ts';
import type { Field } from '../field.ts';
import { readOptions } from '../options.ts';
import { gitReads } from './git.ts';
import { PRINTS_VERSION, READ_ONLY, type ReadOnly } from './table.ts';

/** Why a command is not certainly read-only; undefined when it is. */
export type Doubt = { readonly rule: string; readonly why: string };

const UNKNOWN: Doubt = { rule: 'unknown-program', why: 'what it does is not known' };
const OPTION: Doubt = { rule: 'unsafe-option', why: 'one of its options may write or run something' };
const UNCERTAIN: Doubt = { rule: 'unknown-words', why: 'some of its words are only known when it runs' };
const SECRET: Doubt = { rule: 'reads-secrets', why: 'it reads credentials or keys' };
const DEVICE: Doubt = { rule: 'reads-device', why: 'it reads a device' };

/** Checks that a command only reads: a program known to be read-only, with options known to be. */
export function doubtOf(name: string, args: readonly Field[], folder: string | undefined): Doubt | undefined {
  if (PRINTS_VERSION.has(name) && args.length === 1 && /^(?:--version|-[vV]|--help)$/.test(args[0]?.text ?? ''))
    return undefined;
  const doubt = doubtOfArguments(name, args);
  if (doubt !== undefined) return doubt;
  if (name === 'echo' || name === 'printf' || name === 'test' || name === '[') return undefined;
  for (const { text } of args) {
    if (isSecret(text, folder)) return SECRET;
    if (readsDevice(text)) return DEVICE;
  }
  return undefined;
}

function readsDevice(text: string): boolean {
  if (!text.startsWith('/')) return false;
  const { from, segments } = placeOf(text);
  return (
    from === 'root' && segments[0] === 'dev' && !/^(?:null|stdin|fd|stdout|stderr|tty)$/.test(segments[1] ?? 'null')
  );
}

function doubtOfArguments(name: string, args: readonly Field[]): Doubt | undefined {
  if (name === 'find') return doubtOfFind(args);
  if (name === 'sed' || name === 'gsed') return doubtOfSed(args);
  if (name === 'git')
    return !isClear(args)
      ? UNCERTAIN
      : gitReads(args)
        ? undefined
        : { rule: 'unsafe-option', why: 'it does more than read the repository' };
  if (name === 'command') return args[0]?.text === '-v' || args[0]?.text === '-V' ? undefined : UNKNOWN;
  if (name === 'tail' && readOptions(args).has('-f', '-F', '--follow'))
    return { rule: 'never-ends', why: 'it does not end by itself' };
  const row = READ_ONLY.get(name);
  return row === undefined ? UNKNOWN : doubtOfRow(row, args);
}

function doubtOfRow(row: ReadOnly, args: readonly Field[]): Doubt | undefined {
  const { letters, longs, operandsMax, subcommands } = row;
  if (subcommands !== undefined) {
    return args[0] !== undefined && subcommands.includes(args[0].text) && isClear(args) ? undefined : UNKNOWN;
  }
  if (letters === undefined && longs === undefined && operandsMax === undefined) return undefined;
  if (!isClear(args)) return UNCERTAIN;
  const options = args.slice(0, endOf(args));
  if (options.some(({ text }) => isHarmful(text, letters ?? '', longs ?? []))) return OPTION;
  if (operandsMax === undefined) return undefined;
  return readOptions(args).operands.length > operandsMax
    ? { rule: 'writes-file', why: 'its last operand is written' }
    : undefined;
}

function endOf(args: readonly Field[]): number {
  const end = args.findIndex(({ text }) => text === '--');
  return end < 0 ? args.length : end;
}

/** A program takes `--out` for `--output`. */
function isHarmful(text: string, letters: string, longs: readonly string[]): boolean {
  if (!text.startsWith('-') || text === '-') return false;
  if (!text.startsWith('--')) return [...letters].some((letter) => text.includes(letter));
  const name = text.split('=')[0] ?? text;
  return longs.some((long) => name === long || (name.length > 3 && long.startsWith(name)));
}

/** True when all words are known, and no file name can become an option. */
function isClear(args: readonly Field[]): boolean {
  const end = endOf(args);
  return args.every(
    (field, at) =>
      field.certain ||
      (field.glob && (at > end || !/^[-*?[]/.test(field.text)) && field.origin === 'text' && !field.blank),
  );
}

const FIND_TESTS =
  /^-(?:[HLPO]\d?|D|a|and|o|or|not|true|false|amin|anewer|atime|cmin|cnewer|ctime|daystart|depth|d|empty|executable|follow|fstype|gid|group|i?l?name|inum|i?path|i?regex|i?wholename|links|ls|maxdepth|mindepth|mmin|mount|mtime|newer\w*|nogroup|noleaf|nouser|perm|print|print0|printf|prune|quit|readable|regextype|samefile|size|type|uid|used|user|warn|nowarn|writable|x|xdev|xtype|E|s|X|\d.*)$/;

function doubtOfFind(args: readonly Field[]): Doubt | undefined {
  if (!isClear(args)) return UNCERTAIN;
  let valued = false;
  for (const { text } of args) {
    const isTest = text.startsWith('-') && text.length > 1;
    if (isTest && !valued && !FIND_TESTS.test(text)) return OPTION;
    if (isTest && /^-(?:exec|ok|delete|f(?:ls|print))/.test(text)) return OPTION;
    valued =
      isTest &&
      /^-(?:.*name|.*path|.*regex|.*time|.*min|size|perm|newer|user|group|uid|gid|inum|links|printf)$/.test(text);
  }
  return undefined;
}

const SED_PRINTS = /^(?:(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p)(?:;(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p)*$/;

/** Only `sed -n 1,5p` and its like: the language can write files and run programs. */
function doubtOfSed(args: readonly Field[]): Doubt | undefined {
  if (!isClear(args)) return UNCERTAIN;
  const [first, program, ...files] = args;
  if (first === undefined || program === undefined || !/^(?:-n|--quiet|--silent)$/.test(first.text)) return OPTION;
  const script = program.text === '-e' ? files.shift() : program;
  if (script === undefined || !SED_PRINTS.test(script.text)) return OPTION;
  return files.some(({ text }) => text.startsWith('-') && text !== '-') ? OPTION : undefined;
}
