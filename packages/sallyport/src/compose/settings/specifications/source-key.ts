import type { Settings } from '../../settings.ts';

/** The five specifications that the layer follows. */
export type Source = '000' | '001' | '002' | '003' | '004';

/** Settings that a key of a specification became; a text says what is wrong with the value. */
export type Converted = Partial<Settings> | string;

/** How the value of a key of a specification becomes a setting. */
export interface Conversion {
  /** Settings that it may set. */
  readonly settings: readonly (keyof Settings)[];
  /** What differs from the source; empty when the value is taken as it is. */
  readonly means: string;
  /** True where it wins over other keys that set the same. */
  readonly wins?: true;
  readonly convert: (value: unknown) => Converted;
}

/** A configuration key of a specification, and what it became. */
export interface SourceKey {
  /** As the source writes it. `*` is any one name, `[]` each entry of a list. */
  readonly key: string;
  readonly source: Source;
  readonly section: string;
  /** Default of the source; absent when it states none. */
  readonly default?: unknown;
  readonly became: Conversion | Left;
}

/** A key that is no setting of the layer. */
export interface Left {
  /** Why not, and what serves in its place. */
  readonly left: string;
}

/** A key without its place in the source. */
export type KeyRow = Omit<SourceKey, 'source' | 'section'>;

/** A key that became settings. @param otherwise default of the source */
export const taken = (key: string, became: Conversion, otherwise?: unknown): KeyRow => ({
  key,
  became,
  ...(otherwise === undefined ? {} : { default: otherwise }),
});

/** A key that became no setting. @param why one sentence for people @param otherwise default of the source */
export const left = (key: string, why: string, otherwise?: unknown): KeyRow => ({
  key,
  became: { left: why },
  ...(otherwise === undefined ? {} : { default: otherwise }),
});

/** Several keys that became no setting for the same reason. */
export const allLeft = (why: string, keys: Readonly<Record<string, unknown>>): readonly KeyRow[] =>
  Object.entries(keys).map(([key, otherwise]) => left(key, why, otherwise));

/** Keys of one section of a source, each with the same beginning. */
export const keysOf = (
  source: Source,
  section: string,
  beginning: string,
  rows: readonly KeyRow[],
): readonly SourceKey[] => rows.map(({ key, ...row }) => ({ key: `${beginning}${key}`, source, section, ...row }));

/** True for a key that became settings. */
export const isTaken = (became: SourceKey['became']): became is Conversion => 'convert' in became;
