/** One row of the settings table: the key in the TOML file, and what it means. */
export interface Setting {
  readonly key: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly unit?: string;
  readonly default: string | number | boolean | readonly string[];
  readonly minimum?: number;
  /** Words that the value, or each entry of a list, may be. */
  readonly oneOf?: readonly string[];
  readonly sentence: string;
}

/** The environment variable that wins over the file: `calls.memory_mb` is `SALLYPORT_CALLS_MEMORY_MB`, and so for every key. */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  return `SALLYPORT_${key.toUpperCase().replaceAll('.', '_')}`;
}
