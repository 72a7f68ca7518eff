/** One row of the settings table: the key in the TOML file, the variable that overrides it, and what it means. */
export interface Setting {
  readonly key: string;
  readonly variable: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly unit?: string;
  readonly default: string | number | boolean | readonly string[];
  readonly minimum?: number;
  /** Words that the value, or each entry of a list, may be. */
  readonly oneOf?: readonly string[];
  readonly sentence: string;
}
