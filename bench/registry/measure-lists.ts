import type { ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';
import type { ListFilter, Registry } from '../../packages/sallyport/src/registry/registry.ts';
import { percentile, timeSeries } from '../report/statistics.ts';
import { TENANT } from './open-registry.ts';

/** Tools of one page. */
const PAGE_SIZE = 50;
/** Lists of one kind in a round, at least. */
const LISTS_MIN = 50;
/** Filters that take turns, so that few answers are remembered from the time before. */
const TURNS = 200;

/** Ways to ask for a list, each with the turn of the question. */
export const LISTS = {
  'all, any page': () => ({}),
  'by category, executor and tag': (turn: number) => ({
    category: 'computation' as const,
    executor: 'http' as const,
    tags: [`tag${turn}`],
  }),
  'by category alone': () => ({ category: 'external_api' as const }),
  'of what a token covers, asked each time': () => ({ visible: isSeen }),
  'of what a token covers, remembered': () => ({ visible: isSeen, visibleKey: KEY }),
  'by words': (turn: number) => ({ capability_query: `invoice ${turn}` }),
} as const satisfies Record<string, (turn: number) => ListFilter>;

export type ListName = keyof typeof LISTS;

const KEY = {};
const isSeen = ({ manifest }: ToolVersion): boolean => manifest.tool_id.startsWith('source1');

/** The 99th of 100 lists of one kind, in ms. */
export function listP99Ms(registry: Registry, name: ListName, ms: number): number {
  const times = timeSeries();
  const end = performance.now() + ms;
  for (let turn = 0; performance.now() < end || times.count() < LISTS_MIN; turn += 1) {
    const filter = LISTS[name](turn % TURNS);
    const started = performance.now();
    const { tools, total } = registry.list(TENANT, filter, { page: 1 + (turn % 20), pageSize: PAGE_SIZE });
    times.add(performance.now() - started);
    if (tools.length > total) throw new Error('the list is wrong');
  }
  return percentile(times.sorted(), 0.99);
}

/** Time of one look-up, in ns: an exact version, and noting its use. */
export function findNs(registry: Registry, toolIds: readonly string[], ms: number): { find: number; use: number } {
  const found = toolIds.map((id) => registry.find(TENANT, id, '^1.0.0'));
  const versions = found.flatMap((one) => ('tool' in one ? [one.tool] : []));
  return {
    find: eachNs(toolIds, ms, (id) => registry.find(TENANT, id, '^1.0.0')),
    use: eachNs(versions, ms, (version) => registry.noteUse(version)),
  };
}

function eachNs<T>(items: readonly T[], ms: number, work: (item: T) => unknown): number {
  const started = performance.now();
  let rounds = 0;
  while (performance.now() - started < ms) {
    for (const item of items) work(item);
    rounds += 1;
  }
  return ((performance.now() - started) * 1e6) / (rounds * items.length);
}
