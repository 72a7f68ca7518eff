import { applyEdits, type Edit, modify, type ParseError, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml, stringify as tomlOf } from 'smol-toml';
import { isObject } from '../../../../domain/shape/is-object.ts';
import { usageError } from '../../input/usage-error.ts';
import type { ClientForm } from './clients.ts';

type Form = Pick<ClientForm, 'format' | 'table'>;

/** One server's entry in a client's file: the form of the file and the name of the entry. */
interface Place extends Form {
  readonly name: string;
}

/** The entry of this name in the text of a client's file; undefined when absent. */
export function entryIn(text: string, { name, ...form }: Place): unknown {
  const table = tablesIn(text, form)[form.table];
  return isObject(table) && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The text with this entry added or replaced; everything else is unchanged, including comments and spaces. */
export function withEntry(text: string, place: Place, entry: object): string {
  const { format, table, name } = place;
  tablesIn(text, place);
  if (format === 'json') return jsonWith(text.trim() === '' ? '{}\n' : text, [table, name], entry);
  const rest = withoutEntry(text, place);
  const gap = rest === '' || rest.endsWith('\n\n') ? '' : rest.endsWith('\n') ? '\n' : '\n\n';
  return `${rest}${gap}${tomlOf({ [table]: { [name]: entry } })}`;
}

/** The text without this entry; everything else is unchanged. */
export function withoutEntry(text: string, place: Place): string {
  const { format, table, name } = place;
  if (entryIn(text, place) === undefined) return text;
  return format === 'json' ? jsonWith(text, [table, name], undefined) : tomlWithout(text, place);
}

/**
 * Inserts the entry into JSON text. The library would also reformat the neighbours of an entry, so it inserts
 * unformatted text, which is formatted here.
 */
function jsonWith(text: string, path: [string, string], value: object | undefined): string {
  const edits = modify(text, path, value, {});
  return applyEdits(
    text,
    value === undefined ? edits : edits.map((edit) => ({ ...edit, content: laidOut(edit, text, path[0]) })),
  );
}

function laidOut({ offset, length, content }: Edit, text: string, table: string): string {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = (value: unknown, depth: number): string[] =>
    JSON.stringify(value, null, unit)
      .split('\n')
      .map((line, at) => (at === 0 ? line : `${unit.repeat(depth)}${line}`));
  // An existing entry is replaced; otherwise a member is added after the others, or as the only one.
  if (content.startsWith('{')) return lines(JSON.parse(content), 2).join(eol);
  const isFirst = !content.startsWith(',');
  const member = JSON.parse(`{${isFirst ? content : content.slice(1)}}`);
  const depth = Object.hasOwn(member, table) ? 0 : 1;
  const inner = lines(member, depth).slice(1, -1);
  const end = text[offset + length] === '}' ? `${eol}${unit.repeat(depth)}` : '';
  return [isFirst ? '' : ',', ...inner].join(eol) + end;
}

/**
 * Cuts the tables of the entry out, each from its head to the next head. Everything else must parse to the same values
 * afterwards.
 */
function tomlWithout(text: string, place: Place): string {
  const own = new RegExp(
    `^\\s*\\[${escaped(place.table)}\\.(?:${escaped(place.name)}|"${escaped(place.name)}")(?:\\.[^\\]]+)?\\]`,
  );
  const kept: string[] = [];
  let isOwn = false;
  for (const line of text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) isOwn = own.test(line);
    if (!isOwn) kept.push(line);
  }
  const without = kept.join('').replace(/\n{2,}$/, '\n');
  const wanted = tablesIn(text, place);
  const table = wanted[place.table];
  if (isObject(table)) delete table[place.name];
  if (JSON.stringify(withoutEmpty(tablesIn(without, place))) !== JSON.stringify(withoutEmpty(wanted)))
    throw usageError(`The entry ${place.name} is not written as tables of its own. Change it by hand.`);
  return without;
}

const withoutEmpty = (tables: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(tables).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0));

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** @throws a usage error when the file cannot be parsed: editing it could lose content */
function tablesIn(text: string, { format, table }: Form): Record<string, unknown> {
  if (text.trim() === '') return {};
  const tables = format === 'json' ? fromJson(text) : fromToml(text);
  if (!isObject(tables) || (tables[table] !== undefined && !isObject(tables[table])))
    throw usageError(
      `The file must hold an object, and "${table}" in it another. Mend it, or name another file with --file.`,
    );
  return tables;
}

function fromJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJson(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw usageError('The file is not JSON. Mend it, or name another file with --file.');
  return value;
}

function fromToml(text: string): unknown {
  try {
    return parseToml(text);
  } catch {
    // The parser's error quotes the file, which may hold secrets.
    throw usageError('The file is not TOML. Mend it, or name another file with --file.');
  }
}
