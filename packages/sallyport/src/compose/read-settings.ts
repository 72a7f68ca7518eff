import { readFileSync } from 'node:fs';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { fileFault, parseToml } from '../domain/settings/toml-file.ts';
import { isObject } from '../domain/shape/is-object.ts';
import { likelyName } from './settings/likely-name.ts';
import { SETTINGS, type Setting, type Settings, variableOf } from './settings.ts';

/** Sources of settings; later ones override: defaults, file, environment, the embedding program. */
export interface SettingSources {
  /** TOML file; when undefined `sallyport.toml` in the working folder, if it exists. */
  readonly file?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly given?: Partial<Settings>;
}

/** Name of the default file. */
const DEFAULT_FILE = 'sallyport.toml';

/** The settings file that is read now, or at the next start once it exists. */
export function settingsFileOf({ file, environment = process.env }: SettingSources): string {
  return file ?? environment['SALLYPORT_CONFIG'] ?? DEFAULT_FILE;
}

/**
 * Reads and checks all settings.
 * @throws ToolLayerError E3801 naming every unknown key and invalid value, with its place
 */
export function readSettings({ file, environment = process.env, given = {} }: SettingSources = {}): Settings {
  const faults: string[] = [];
  const rows: readonly Setting[] = SETTINGS;
  const values: Record<string, unknown> = Object.fromEntries(rows.map((row) => [row.key, row.default]));
  const take = (row: Setting, value: unknown, place: string): void => {
    const fault = settingFault(row, value);
    if (fault === undefined) values[row.key] = value;
    else faults.push(`${place}: ${row.key} ${fault}`);
  };
  for (const [key, value, place] of fileEntries(file ?? environment['SALLYPORT_CONFIG'])) {
    const row = rows.find((known) => known.key === key);
    if (row === undefined) faults.push(`${place}: there is no setting ${key}${nearest(key, rows)}`);
    else take(row, value, place);
  }
  for (const row of rows) {
    const variable = variableOf(row);
    const text = environment[variable];
    if (text !== undefined && text !== '') take(row, fromText(row, text), variable);
  }
  for (const [key, value] of Object.entries(given)) {
    const row = rows.find((known) => known.key === key);
    if (row === undefined) faults.push(`the program: there is no setting ${key}${nearest(key, rows)}`);
    else if (value !== undefined) take(row, value, 'the program');
  }
  if (faults.length > 0)
    throw new ToolLayerError('E3801', `The settings have faults. ${faults.join('. ')}.`, { details: { faults } });
  // Every key now has a value of its type: the default or one that was checked.
  return values as unknown as Settings;
}

function fileEntries(named: string | undefined): [key: string, value: unknown, place: string][] {
  const path = named ?? DEFAULT_FILE;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (named === undefined) return [];
    throw fileFault('settings file', path)('cannot be read', cause);
  }
  return [...leaves(parseToml(text, fileFault('settings file', path)), '')].map(([key, value]) => [
    key,
    value,
    placeOf(key, text, path),
  ]);
}

function* leaves(table: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(table)) {
    // A date is a value, which no setting takes.
    if (isObject(value) && !(value instanceof Date)) yield* leaves(value, `${prefix}${name}.`);
    else yield [`${prefix}${name}`, value];
  }
}

/** The line of the key's last part: close enough, without a TOML parser that keeps positions. */
function placeOf(key: string, text: string, path: string): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const line = text.split('\n').findIndex((candidate) => candidate.trimStart().startsWith(name));
  return line < 0 ? path : `${path}:${line + 1}`;
}

function fromText(row: Setting, text: string): unknown {
  if (row.type === 'integer' || row.type === 'number') return text.trim() === '' ? text : Number(text);
  if (row.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (row.type === 'list') return text.split(',').map((part) => part.trim());
  return text;
}

/** What is wrong with the value of a setting, such as `must be a number`; undefined when nothing is. */
export function settingFault(row: Setting, value: unknown): string | undefined {
  const isNumber = row.type === 'integer' || row.type === 'number';
  // No path, name or address has one, and what opens it would say so in its own words.
  if ([value].flat().some((text) => typeof text === 'string' && text.includes('\0')))
    return 'must not hold the character U+0000';
  if (row.type === 'list') {
    if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return 'must be a list of texts';
    const { oneOf } = row;
    return oneOf === undefined || value.every((part) => oneOf.includes(part))
      ? undefined
      : `must be a list of ${oneOf.join(', ')}`;
  }
  if (isNumber && !Number.isFinite(value)) return 'must be a number';
  if (row.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = row;
  if (Number(value) < minimum) return `must be at least ${minimum}`;
  if (Number(value) > maximum) return `must be at most ${maximum}`;
  if (row.type === 'boolean' && typeof value !== 'boolean') return 'must be true or false';
  if (row.type === 'string' && typeof value !== 'string') return 'must be a text';
  if (row.oneOf !== undefined && !row.oneOf.includes(value as string)) return `must be one of ${row.oneOf.join(', ')}`;
  return undefined;
}

function nearest(key: string, rows: readonly Setting[]): string {
  const keys = rows.map((row) => row.key);
  const likely = likelyName(key, keys, `.${key.slice(key.lastIndexOf('.') + 1)}`);
  return likely === undefined ? '' : `; did you mean ${likely}`;
}
