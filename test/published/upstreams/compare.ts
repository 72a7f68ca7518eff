/** One place where two values differ. */
export interface Difference {
  /** Where the values differ, as a JSON path from the root; members of lists are `*`. */
  readonly path: string;
  readonly direct: unknown;
  readonly layer: unknown;
}

/** Finds all places where two JSON values differ; another order of members counts too. */
export function differencesOf(direct: unknown, layer: unknown, path = ''): Difference[] {
  if (JSON.stringify(direct) === JSON.stringify(layer)) return [];
  const found = Array.isArray(direct) && Array.isArray(layer) ? inLists(direct, layer, path) : undefined;
  if (found !== undefined) return found;
  const [one, two] = [membersOf(direct, path), membersOf(layer, path)];
  if (one === undefined || two === undefined) return [{ path, direct, layer }];
  const names = new Set([...Object.keys(one), ...Object.keys(two)]);
  const inMembers = [...names].flatMap((name) => differencesOf(one[name], two[name], `${path}/${name}`));
  return inMembers.length === 0 ? [{ path: `${path} (order)`, direct, layer }] : inMembers;
}

/**
 * The members to compare: an absent `_meta` counts as one without members, any other absent value has none to compare.
 */
function membersOf(value: unknown, path: string): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined && path === '/_meta') return {};
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function inLists(direct: readonly unknown[], layer: readonly unknown[], path: string): Difference[] | undefined {
  if (direct.length !== layer.length) return undefined;
  return direct.flatMap((item, index) => differencesOf(item, layer[index], `${path}/*`));
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/** The value with each time replaced, because the two calls are made at different times. */
export function withoutTimes<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(TIME, '(time)'));
}
