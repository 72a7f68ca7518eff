import type { Difference } from './compare.ts';

/** A difference, on purpose, between what a client receives through the layer and what the server sends. */
export interface AllowedDifference {
  /** Where the difference is, as the table in docs/upstreams.md says it. */
  readonly place: string;
  readonly what: string;
  readonly why: string;
  readonly covers: (difference: Difference, whole: { readonly layer: unknown }) => boolean;
}

/** Differences in lists. */
export const OF_LISTS: readonly AllowedDifference[] = [
  {
    place: '`name` of a tool',
    what: '`<upstream>__<tool>`',
    why: 'Two servers may give the same name; ids are unique in a tenant.',
    covers: ({ path }) => path === '/name',
  },
  {
    place: '`execution.taskSupport` of a tool',
    what: '`optional` unless the server says `required`',
    why: 'The layer itself runs a call as a task where its server does not.',
    covers: ({ path, layer }) => path.startsWith('/execution') && JSON.stringify(layer)?.includes('optional') === true,
  },
];

/** Differences in the results of calls. */
export const OF_RESULTS: readonly AllowedDifference[] = [
  {
    place: '`_meta` of a result',
    what: '`invocation_id` is added',
    why: 'The call is found on record by it.',
    covers: ({ path, direct }) => path === '/_meta/invocation_id' && direct === undefined,
  },
  {
    place: '`_meta` of a result with markup of scripts, commands or instructions',
    what: '`warnings` is added',
    why: 'Who shows the result to a model should know; the result itself is unchanged.',
    covers: ({ path, direct }) => path === '/_meta/warnings' && direct === undefined,
  },
  {
    place: 'a result that says what is wrong with arguments',
    what: 'in the words of the layer, with `error` in `_meta`',
    why: 'Arguments are held against the input schema before the server is asked.',
    covers: ({ path }, { layer }) =>
      isRefusalOfArguments(layer) && ['/content/*/text', '/_meta/error'].some((begin) => path.startsWith(begin)),
  },
];

function isRefusalOfArguments(result: unknown): boolean {
  const { _meta } = result as { _meta?: { error?: { e_code?: string } } };
  return _meta?.error?.e_code === 'E3509';
}

/** The rows of the table in docs/upstreams.md. */
export function differencesTable(): readonly string[] {
  const rows = [...OF_LISTS, ...OF_RESULTS].map(({ place, what, why }) => `| ${place} | ${what} | ${why} |`);
  return ['| Place | Through the layer | Why |', '|---|---|---|', ...rows];
}
