import type { Field } from '../field.ts';
import { readOptions } from '../options.ts';
import { replaceAllBounded } from '../words/replace-text.ts';
import { readEscapes } from './print-text.ts';

/** Lines in the other order. */
export function reverseLines(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  return `${lines.reverse().join('\n')}\n`;
}

const CLASSES: Readonly<Record<string, string>> = {
  '[:lower:]': 'a-z',
  '[:upper:]': 'A-Z',
  '[:digit:]': '0-9',
  '[:alpha:]': 'A-Za-z',
  '[:alnum:]': 'A-Za-z0-9',
  '[:space:]': ' \t\n\r\v\f',
  '[:blank:]': ' \t',
};

/** What tr makes of a text; undefined when its sets are not understood. */
export function translate(text: string, args: readonly Field[]): string | undefined {
  const options = readOptions(args);
  const [from, to] = options.operands.map((operand) => setOf(operand.text));
  if (from === undefined) return undefined;
  const isComplement = options.has('-c', '-C', '--complement');
  const within = (character: string): boolean => from.includes(character) !== isComplement;
  if (options.has('-d', '--delete')) return [...text].filter((character) => !within(character)).join('');
  if (to === undefined || to.length === 0) return options.has('-s') ? text : undefined;
  const last = to.at(-1) ?? '';
  return Array.from(text, (character) => {
    if (!within(character)) return character;
    return isComplement ? last : (to[from.lastIndexOf(character)] ?? last);
  }).join('');
}

function setOf(text: string): string[] {
  const plain = readEscapes(text.replace(/\[:[a-z]+:\]/g, (name) => CLASSES[name] ?? ''));
  const characters = [...plain];
  const set: string[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const first = characters[at] ?? '';
    const last = characters[at + 2];
    if (characters[at + 1] !== '-' || last === undefined || last < first) {
      set.push(first);
      continue;
    }
    const end = last.charCodeAt(0);
    for (let code = first.charCodeAt(0); code <= end && set.length < 512; code += 1)
      set.push(String.fromCharCode(code));
    at += 2;
  }
  return set;
}

const SUBSTITUTION = /^s([/|,#!:@_])((?:\\.|(?!\1)[^\\\n])*)\1((?:\\.|(?!\1)[^\\\n])*)\1(g?)$/;
const PLAIN = /^[\w\s./\-:;,@%#=!~'"`&<>]*$/;

/** What `sed s/x/y/` makes of a text, for texts without regular expressions; undefined for any other program. */
export function substitute(text: string, args: readonly Field[]): string | undefined {
  const options = readOptions(args, { valued: 'e', longValued: ['--expression'] });
  const program = options.value('-e', '--expression') ?? options.operands[0];
  let result: string | undefined = text;
  for (const each of (program?.text ?? '').split(';')) {
    const found = SUBSTITUTION.exec(each.trim());
    if (found === null) return undefined;
    const [, , from = '', to = '', global] = found;
    const wanted = from.replace(/\\(.)/g, '$1');
    if (from === '' || !PLAIN.test(wanted) || wanted.includes('.') !== from.includes('\\.')) return undefined;
    const by = to.replace(/\\(.)/g, '$1');
    result = global === 'g' ? replaceAllBounded(result, wanted, by) : result.replace(wanted, () => by);
    if (result === undefined) return undefined;
  }
  return result;
}

/** Parts of a text, by lines, characters or fields; undefined for what is not understood. */
export function selectLines(
  args: readonly Field[],
  text: string | undefined,
  how: 'head' | 'tail' | 'cut',
): string | undefined {
  if (text === undefined) return undefined;
  const options = readOptions(args.map(numberAsOption), { valued: 'ncdfb', longValued: ['--lines', '--bytes'] });
  if (how === 'cut') return cut(text, options);
  const bytes = options.value('-c', '--bytes');
  const count = Number((bytes ?? options.value('-n', '--lines'))?.text ?? '10');
  if (!Number.isInteger(count))
    return how === 'tail' ? fromPlace(text, (bytes ?? options.value('-n'))?.text ?? '') : undefined;
  if (bytes !== undefined) return how === 'head' ? text.slice(0, count) : text.slice(-Math.abs(count) || text.length);
  const lines = text.replace(/\n$/, '').split('\n');
  return `${(how === 'head' ? lines.slice(0, count) : lines.slice(-Math.abs(count))).join('\n')}\n`;
}

/** `head -5` is `head -n 5`. */
function numberAsOption(field: Field): Field {
  return /^-\d+$/.test(field.text) ? { ...field, text: `-n${field.text.slice(1)}` } : field;
}

function fromPlace(text: string, place: string): string | undefined {
  if (!/^\+\d+$/.test(place)) return undefined;
  return text
    .split('\n')
    .slice(Number(place) - 1)
    .join('\n');
}

function cut(text: string, options: ReturnType<typeof readOptions>): string | undefined {
  const characters = options.value('-c', '-b')?.text;
  const fields = options.value('-f')?.text;
  const ranges = rangesOf(characters ?? fields ?? '');
  if (ranges === undefined) return undefined;
  const by = characters === undefined ? (options.value('-d')?.text ?? '\t') : '';
  const picked = (line: string): string => {
    const pieces = by === '' ? [...line] : line.split(by);
    return pieces.filter((_, index) => ranges.some(([from, to]) => index + 1 >= from && index + 1 <= to)).join(by);
  };
  return text.split('\n').map(picked).join('\n');
}

function rangesOf(text: string): [number, number][] | undefined {
  const ranges: [number, number][] = [];
  for (const part of text.split(',').slice(0, 64)) {
    const found = /^(\d*)(-?)(\d*)$/.exec(part);
    if (found === null || part === '' || part === '-') return undefined;
    const from = Number(found[1] || '1');
    ranges.push([from, found[2] === '' ? from : Number(found[3] || Number.MAX_SAFE_INTEGER)]);
  }
  return ranges;
}
