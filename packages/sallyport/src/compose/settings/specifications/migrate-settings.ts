import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { nearestName } from '@sallyport/std/text/nearest-name';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { MigratedSettings, MigrationNote } from '../../../doors/cli/cli-parts.ts';
import { settingFault } from '../../read-settings.ts';
import { SETTINGS, type Setting, type Settings } from '../../settings.ts';
import { readConfiguration } from './read-configuration.ts';
import { settingsText } from './settings-text.ts';
import { type Conversion, isTaken, type SourceKey } from './source-key.ts';
import { SOURCE_KEYS } from './source-keys.ts';
import { neededToo, startFaults } from './start-faults.ts';

/** Most letters that are shown of a key that is not known. */
const KEY_CHARS_MAX = 200;

/**
 * The settings that a configuration in the words of the five specifications stands for (OPS-06). They may hold secrets;
 * no note holds a value.
 * @param name of the file, which says its form
 * @throws ToolLayerError E3801 naming every key whose value cannot be taken, with what to change
 */
export function migrateSettings(text: string, name: string): MigratedSettings {
  const found = [...keysIn(readConfiguration(text, name), [])];
  const faults = found.flatMap((each) => ('fault' in each ? [`${shown(each.path)} ${each.fault}`] : []));
  const notes: MigrationNote[] = found.flatMap((each) =>
    'unknown' in each ? [{ key: shown(each.path), why: `is no key of the specifications${nearest(each.path)}` }] : [],
  );
  const settings: Partial<Record<keyof Settings, unknown>> = {};
  const origins = new Map<string, string>();
  for (const { path, value, row } of inOrder(found)) {
    const key = shown(path);
    if (isTaken(row.became)) {
      const added = valuesFrom(row.became, value);
      if (typeof added === 'string') faults.push(`${key} ${added}`);
      else notes.push(...add(settings, origins, { key, row, added, wins: row.became.wins === true }));
    } else notes.push({ key, why: row.became.left });
  }
  if (faults.length === 0) faults.push(...startFaults(settings as Partial<Settings>, origins));
  if (faults.length > 0)
    throw new ToolLayerError('E3801', `The configuration cannot be taken over. ${faults.join('. ')}.`, {
      details: { faults },
    });
  const taken = settings as Partial<Settings>;
  const allNotes = [...notes, ...neededToo(taken)];
  return { settings: taken, notes: allNotes, text: settingsText(taken, origins, allNotes) };
}

/** A key of the file with its value: known, unknown, or in the place of a table. */
type Found =
  | { readonly path: readonly string[]; readonly value: unknown; readonly row: SourceKey }
  | { readonly path: readonly string[]; readonly unknown: true }
  | { readonly path: readonly string[]; readonly fault: string };

const ROWS = SOURCE_KEYS.map((row) => ({ row, names: row.key.split('.') }));

/** Walks the tables; a key without a value counts as left out. */
function* keysIn(table: Readonly<Record<string, unknown>>, above: readonly string[]): Generator<Found> {
  for (const [name, value] of Object.entries(table)) {
    const path = [...above, name];
    const known = ROWS.find(({ names }) => names.length === path.length && begins(names, path));
    const isTable = ROWS.some(({ names }) => begins(names, path));
    if (value === null) continue;
    if (known !== undefined) yield { path, value, row: known.row };
    else if (isTable && isObject(value)) yield* keysIn(value, path);
    else if (isTable) yield { path, fault: 'must be a table of keys' };
    else yield { path, unknown: true };
  }
}

const begins = (names: readonly string[], path: readonly string[]): boolean =>
  path.every((part, at) => names[at] === part);

/** The known keys in the order of the table. */
function inOrder(found: readonly Found[]): readonly (Found & { readonly row: SourceKey; readonly value: unknown })[] {
  return found.flatMap((each) => ('row' in each ? [each] : [])).toSorted((a, b) => placeOf(a.row) - placeOf(b.row));
}

const placeOf = (row: SourceKey): number => SOURCE_KEYS.indexOf(row);

/** The settings that a value stands for, each checked by its row; a text says what is wrong. */
function valuesFrom(became: Conversion, value: unknown): Partial<Settings> | string {
  const converted = became.convert(value);
  if (typeof converted === 'string') return converted;
  const rows: readonly Setting[] = SETTINGS;
  for (const [key, each] of Object.entries(converted)) {
    const row = rows.find((known) => known.key === key);
    const fault = row === undefined ? 'has no setting' : settingFault(row, each);
    // The fault is in the unit of the setting, which may be another one than that of the key.
    if (fault !== undefined) return row?.unit === undefined ? fault : `${fault} (${key}, in ${row.unit})`;
  }
  return converted;
}

interface Addition {
  readonly key: string;
  readonly row: SourceKey;
  readonly added: Partial<Settings>;
  readonly wins: boolean;
}

/** Adds settings; a note says of a setting that another key set differently. */
function add(
  settings: Partial<Record<keyof Settings, unknown>>,
  origins: Map<string, string>,
  { key, row, added, wins }: Addition,
): readonly MigrationNote[] {
  const notes: MigrationNote[] = [];
  for (const [setting, value] of Object.entries(added) as [keyof Settings, unknown][]) {
    const earlier = origins.get(setting);
    if (earlier !== undefined && !wins) {
      if (JSON.stringify(settings[setting]) !== JSON.stringify(value))
        notes.push({ key, why: `differs from ${earlier}, whose value ${setting} has; name one of them` });
      continue;
    }
    settings[setting] = value;
    origins.set(setting, `${key} (${row.source} ${row.section})`);
  }
  return notes;
}

/** The key as its source writes it, on one line and not longer than anybody reads. */
function shown(path: readonly string[]): string {
  const key = path.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join('.');
  return key.length > KEY_CHARS_MAX ? `${key.slice(0, KEY_CHARS_MAX)}…` : key;
}

function nearest(path: readonly string[]): string {
  const known = new Set(ROWS.map(({ names }) => names.slice(0, path.length).join('.')));
  const whole = ROWS.map(({ names }) => names.join('.'));
  const near = nearestName(path.join('.'), [...known]) ?? whole.find((each) => each.endsWith(`.${path.at(-1)}`));
  return near === undefined ? '' : `; did you mean ${near}`;
}
