import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { ListFilter, Registry } from '../registry.ts';
import { type Catalogue, list, put } from './catalogue.ts';
import { manifest, registryOver } from './registry.fixture.ts';

const CATEGORIES = ['data_access', 'computation', undefined] as const;
const KINDS = ['native', 'http', 'mcp'] as const;

/** A tool whose members are derived from its number. */
const tool = (at: number, more: Record<string, unknown> = {}) => {
  const category = CATEGORIES[at % 3];
  return manifest('1.0.0', {
    tool_id: `t${String(at).padStart(4, '0')}`,
    description: at % 7 === 0 ? 'Reads mail' : 'Does things',
    tags: [`mod2-${at % 2}`, `mod5-${at % 5}`],
    executor: { kind: KINDS[at % 3] },
    ...(category === undefined ? {} : { category }),
    ...more,
  });
};

const FILTERS: readonly ListFilter[] = [
  {},
  { category: 'computation' },
  { tags: ['mod2-1'] },
  { tags: ['mod2-1', 'mod5-3'] },
  { executor: 'http', category: 'computation' },
  { executor: 'http', category: 'data_access' },
  { tags: ['mod5-0'], executor: 'native', capability_query: 'MAIL' },
  { capability_query: 'reads t00' },
  { tags: ['nothing'] },
];

/** The expected list, computed from the newest versions one by one. */
function expected(
  registry: Registry,
  { category, tags = [], executor, capability_query = '', visible }: ListFilter,
): string[] {
  const words = capability_query.toLowerCase().split(' ');
  const fits = (version: ToolVersion): boolean => {
    const { manifest: one } = version;
    const text = `${one.tool_id}\n${one.tool_name}\n${one.description}\n${one.tags?.join('\n')}`.toLowerCase();
    return (
      (category === undefined || one.category === category) &&
      (executor === undefined || one.executor.kind === executor) &&
      tags.every((tag) => one.tags?.includes(tag)) &&
      words.every((word) => text.includes(word)) &&
      visible?.(version) !== false
    );
  };
  return registry
    .manifests('acme')
    .filter(fits)
    .map(({ manifest: one }) => one.tool_id);
}

function listed(registry: Registry, filter: ListFilter): string[] {
  const { tools, total } = registry.list('acme', filter, { page: 1, pageSize: 2000 });
  expect(total).toBe(tools.length);
  return tools.map(({ tool_id }) => tool_id);
}

test('REG-11.1 a hundred thousand tools are listed, page by page and by filter', () => {
  const idOf = (at: number) => `t${String(at).padStart(6, '0')}`;
  const catalogue: Catalogue = new Map();
  const many = Array.from({ length: 100_000 }, (_, at) => at);
  for (const at of many) {
    const given = tool(at, { tool_id: idOf(at) }) as unknown as ToolVersion['manifest'];
    put(catalogue, { tenantId: 'acme', manifest: given, contentHash: `${at}`, state: 'active', registeredAt: '' });
  }
  const { tools, total } = list(catalogue, 'acme', {}, { page: 500, pageSize: 200 });
  expect([total, tools.map(({ tool_id }) => tool_id)]).toEqual([100_000, many.slice(99_800).map(idOf)]);
  const few = list(catalogue, 'acme', { category: 'computation', tags: ['mod2-1'] }, { page: 1, pageSize: 50 });
  expect(few.total).toBe(many.filter((at) => at % 3 === 1 && at % 2 === 1).length);
});

test('REG-11.3 a page of a hundred thousand tools reads the tools of that page, not the others', () => {
  const catalogue: Catalogue = new Map();
  let read = 0;
  for (let at = 0; at < 100_000; at += 1) {
    const tags = at % 500 === 1 ? ['rare', 'common'] : ['common'];
    const id = `t${String(at).padStart(6, '0')}`;
    const given = tool(at, { tool_id: id, tags }) as unknown as ToolVersion['manifest'];
    const counted = Object.defineProperty(
      { tenantId: 'acme', contentHash: `${at}`, state: 'active', registeredAt: '' } as ToolVersion,
      'manifest',
      {
        enumerable: true,
        get: () => {
          read += 1;
          return given;
        },
      },
    );
    put(catalogue, counted);
  }
  const readBy = (filter: ListFilter, page: number): number => {
    read = 0;
    expect(list(catalogue, 'acme', filter, { page, pageSize: 50 }).tools).toHaveLength(50);
    return read;
  };
  // The first list makes the index of what was registered.
  expect(readBy({ executor: 'http' }, 1)).toBeGreaterThan(100_000);
  expect(readBy({}, 1800)).toBeLessThanOrEqual(500);
  expect(readBy({ category: 'computation' }, 600)).toBeLessThanOrEqual(500);
  // With several conditions, the tools that fit the rarest one.
  expect(readBy({ category: 'computation', tags: ['common', 'rare'] }, 1)).toBeLessThanOrEqual(1000);
});

test('every filter finds what looking at each tool finds, also after single changes', async () => {
  const registry = registryOver(memoryToolStore());
  await registry.registerAll(
    'acme',
    Array.from({ length: 1000 }, (_, at) => tool(at * 2)),
  );
  for (const filter of FILTERS) expect(listed(registry, filter)).toEqual(expected(registry, filter));
  await registry.register('acme', tool(501));
  await registry.register('acme', tool(502, { version: '2.0.0', tags: ['mod5-3'], category: 'computation' }));
  await registry.register('acme', tool(2001));
  await registry.removeAll('acme', ['t0000']);
  await registry.removeAll('acme', ['t1998']);
  for (const filter of FILTERS) expect(listed(registry, filter)).toEqual(expected(registry, filter));
  expect(listed(registry, {})).toHaveLength(1000);
  expect(listed(registry, {}).toSorted()).toEqual(listed(registry, {}));
});

test('what a caller may see narrows every list, and the total counts it', async () => {
  const registry = registryOver(memoryToolStore());
  await registry.registerAll(
    'acme',
    Array.from({ length: 300 }, (_, at) => tool(at)),
  );
  const visible = ({ manifest: { tool_id } }: ToolVersion): boolean => tool_id.endsWith('3');
  for (const filter of FILTERS) {
    const wanted = expected(registry, { ...filter, visible });
    const page = registry.list('acme', { ...filter, visible }, { page: 2, pageSize: 3 });
    expect(page.total).toBe(wanted.length);
    expect(page.tools.map(({ tool_id }) => tool_id)).toEqual(wanted.slice(3, 6));
  }
});

test('what was seen under a key is remembered until tools change', async () => {
  const registry = registryOver(memoryToolStore());
  await registry.registerAll(
    'acme',
    Array.from({ length: 100 }, (_, at) => tool(at)),
  );
  let asked = 0;
  const visible = (): boolean => {
    asked += 1;
    return true;
  };
  const filter: ListFilter = { visible, visibleKey: {}, tags: ['mod5-1'] };
  expect(listed(registry, filter)).toHaveLength(20);
  expect(listed(registry, filter)).toHaveLength(20);
  expect(asked).toBe(20);
  expect(listed(registry, { ...filter, visibleKey: {} })).toHaveLength(20);
  expect(asked).toBe(40);
  await registry.register('acme', tool(101));
  expect(listed(registry, filter)).toHaveLength(21);
  expect(asked).toBe(61);
});

test('many different filters are answered without all being kept', async () => {
  const registry = registryOver(memoryToolStore());
  await registry.register('acme', tool(1));
  for (let at = 0; at < 1000; at += 1) expect(listed(registry, { capability_query: `no ${at}` })).toEqual([]);
});
