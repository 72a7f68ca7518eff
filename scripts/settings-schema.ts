import type { SettingRow } from './documents.ts';

/** JSON Schema of one setting, or of a table of them. */
type Schema = Readonly<Record<string, unknown>>;

/** docs/sallyport.schema.json: what a settings file may hold, for editors that check TOML by a JSON Schema. */
export function settingsSchema(settings: readonly SettingRow[]): Schema {
  const tables = Object.groupBy(settings, ({ key }) => key.slice(0, Math.max(0, key.lastIndexOf('.'))));
  const { '': withoutTable = [], ...named } = tables;
  const properties = Object.entries(named).map(([name, rows = []]) => [name, tableOf(rows)]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Sallyport',
    description:
      'sallyport.toml. Written by `npm run generate` from the tables of packages/sallyport/src/compose/settings.ts.',
    ...tableOf(withoutTable, Object.fromEntries(properties)),
  };
}

function tableOf(rows: readonly SettingRow[], more: Schema = {}): Schema {
  const own = rows.map((row) => [row.key.slice(row.key.lastIndexOf('.') + 1), valueSchema(row)]);
  return { type: 'object', properties: { ...Object.fromEntries(own), ...more }, additionalProperties: false };
}

function valueSchema({ type, unit, default: otherwise, minimum, maximum, oneOf, sentence }: SettingRow): Schema {
  const words = oneOf === undefined ? {} : { enum: oneOf };
  return {
    description: unit === undefined ? sentence : `${sentence} In ${unit}.`,
    default: otherwise,
    ...(type === 'list' ? { type: 'array', items: { type: 'string', ...words } } : { type, ...words }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}
