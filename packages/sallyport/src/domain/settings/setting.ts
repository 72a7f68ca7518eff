/** The type of a setting's value. */
export type SettingValue = string | number | boolean | readonly string[];

/** One setting: its key in the TOML file, and its meaning. The type of its default is the type of its values. */
export interface Setting<Key extends string = string, Value extends SettingValue = SettingValue> {
  readonly key: Key;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly unit?: string;
  readonly default: Value;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Allowed words for the value, or for each entry of a list. */
  readonly oneOf?: readonly string[];
  /** Factor from the setting's unit to the component's: 1000 for seconds that the component gets in ms. */
  readonly scale?: number;
  readonly sentence: string;
}

/** The settings of a component, each under its name in the component; a member may be a group. */
export interface SettingTable {
  readonly [member: string]: Setting | SettingGroup;
}

/** Several settings of a table that are one member in the component. */
export interface SettingGroup {
  readonly [member: string]: Setting;
}

/** Each setting of a table. */
export type RowOf<T> = T extends unknown
  ? Extract<{ [M in keyof T]: T[M] extends Setting ? T[M] : T[M][keyof T[M]] }[keyof T], Setting>
  : never;

/** Values by key, as they are read. */
export type SettingsOf<T> = { readonly [R in RowOf<T> as R['key']]: R['default'] };

/** Values by member, in the units of the component: what a component with this table receives. */
export type ValuesOf<T> = {
  readonly [M in keyof T]: T[M] extends Setting ? T[M]['default'] : { readonly [N in keyof T[M]]: DefaultOf<T[M][N]> };
};

type DefaultOf<R> = R extends Setting ? R['default'] : never;

/**
 * The environment variable that overrides the file: `calls.memory_mb` is `SALLYPORT_CALLS_MEMORY_MB`; the same rule for
 * every key.
 */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  return `SALLYPORT_${key.toUpperCase().replaceAll('.', '_')}`;
}

/** The values of a component, from the settings of a layer. */
export function valuesOf<const T extends SettingTable>(table: T, settings: SettingsOf<T>): ValuesOf<T> {
  const values = settings as Readonly<Record<string, SettingValue>>;
  return inUnits(table, ({ key, default: otherwise }) => values[key] ?? otherwise) as ValuesOf<T>;
}

/** The default values of a component. */
export function defaultsOf<const T extends SettingTable>(table: T): ValuesOf<T> {
  return inUnits(table, (row) => row.default) as ValuesOf<T>;
}

/** The settings of some tables, each key once, in the order of the tables. */
export function rowsOf<const T extends readonly SettingTable[]>(...tables: T): readonly RowOf<T[number]>[] {
  const rows = new Map<string, Setting>();
  for (const row of tables.flatMap(listed)) if (!rows.has(row.key)) rows.set(row.key, row);
  return [...rows.values()] as unknown as readonly RowOf<T[number]>[];
}

function inUnits(table: SettingTable, held: (row: Setting) => SettingValue): Readonly<Record<string, unknown>> {
  const members = Object.entries(table).map(([member, entry]) => {
    if (!isRow(entry)) return [member, inUnits(entry, held)] as const;
    const value = held(entry);
    return [member, typeof value === 'number' ? value * (entry.scale ?? 1) : value] as const;
  });
  return Object.fromEntries(members);
}

const listed = (table: SettingTable): readonly Setting[] =>
  Object.values(table).flatMap((entry) => (isRow(entry) ? [entry] : listed(entry)));

const isRow = (entry: Setting | SettingGroup): entry is Setting => typeof entry['key'] === 'string';
