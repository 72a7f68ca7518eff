/** What a setting may hold. */
export type SettingValue = string | number | boolean | readonly string[];

/** One setting: its key in the TOML file, and what it means. The type of its default is the type of its values. */
export interface Setting<Key extends string = string, Value extends SettingValue = SettingValue> {
  readonly key: Key;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly unit?: string;
  readonly default: Value;
  readonly minimum?: number;
  /** Words that the value, or each entry of a list, may be. */
  readonly oneOf?: readonly string[];
  /** How many units of its component one unit of the setting is: 1000 for seconds that the component gets in ms. */
  readonly scale?: number;
  readonly sentence: string;
}

/** The settings of a component, each under the name that the component knows it by; a member may group some. */
export interface SettingTable {
  readonly [member: string]: Setting | SettingGroup;
}

/** Some settings of a table that its component knows as one member. */
export interface SettingGroup {
  readonly [member: string]: Setting;
}

/** Each setting of a table. */
export type RowOf<T> = T extends unknown
  ? Extract<{ [M in keyof T]: T[M] extends Setting ? T[M] : T[M][keyof T[M]] }[keyof T], Setting>
  : never;

/** Values by key, as they are read. */
export type SettingsOf<T> = { readonly [R in RowOf<T> as R['key']]: R['default'] };

/** Values by member, in the units of the component: what a component with this table gets. */
export type ValuesOf<T> = {
  readonly [M in keyof T]: T[M] extends Setting ? T[M]['default'] : { readonly [N in keyof T[M]]: DefaultOf<T[M][N]> };
};

type DefaultOf<R> = R extends Setting ? R['default'] : never;

/** The environment variable that wins over the file: `calls.memory_mb` is `SALLYPORT_CALLS_MEMORY_MB`, and so for every key. */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  return `SALLYPORT_${key.toUpperCase().replaceAll('.', '_')}`;
}

/** What a component gets of the settings of a layer. */
export function valuesOf<const T extends SettingTable>(table: T, settings: SettingsOf<T>): ValuesOf<T> {
  const values = settings as Readonly<Record<string, SettingValue>>;
  return inUnits(table, ({ key, default: otherwise }) => values[key] ?? otherwise) as ValuesOf<T>;
}

/** What a component gets where nobody set anything. */
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
