import { MiB } from '@sallyport/std/bytes';
import { systemClock } from '@sallyport/std/clock';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryVectorStore } from '../../../test/stores/memory-vector-store.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { memoryVectorIndex } from '../../storage/memory/memory-vector-index.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { RegistryChange } from '../registry.ts';
import { createToolSearch, type ToolSearch, type ToolSearchAnswer, type ToolSearchQuery } from '../tool-search.ts';
import type { VectorIndex } from '../vectors.port.ts';
import { type ConceptEmbedder, conceptEmbedder, conceptVector, tool } from './search.fixture.ts';

/** A search, and the tools in it, which the test changes. */
interface Bench {
  readonly search: ToolSearch;
  readonly embedder: ConceptEmbedder;
  /** Replaces the tools of a tenant, and notifies the search of the tools that were added, changed or removed. */
  set(tenantId: string, ...tools: readonly ToolVersion[]): void;
  find(text: string, more?: Partial<ToolSearchQuery>, tenants?: readonly string[]): Promise<ToolSearchAnswer>;
  ids(text: string, more?: Partial<ToolSearchQuery>, tenants?: readonly string[]): Promise<string[]>;
}

const opened: ToolSearch[] = [];
afterEach(async () => {
  for (const search of opened.splice(0)) await search.close();
});

function setUp({
  embedder = conceptEmbedder(),
  index = memoryVectorIndex(),
  withEmbedder = true,
  skipMs = 0,
}: {
  embedder?: ConceptEmbedder;
  index?: VectorIndex;
  withEmbedder?: boolean;
  skipMs?: number;
} = {}): Bench {
  const tenants = new Map<string, readonly ToolVersion[]>();
  const listeners = new Set<(change: RegistryChange) => void>();
  let asked = 0;
  const search = createToolSearch({
    tools: (tenantId) => tenants.get(tenantId) ?? [],
    onChanged: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    ...(withEmbedder ? { embedder } : {}),
    index,
    vectors: memoryVectorStore(),
    threshold: 0.7,
    // With `skipMs` each reading of the clock is that much later than the previous one, so that pauses seem to pass.
    clock: { now: systemClock.now, monotonic: () => systemClock.monotonic() + skipMs * asked++ },
    log: silentLog,
    quietMs: 1,
  });
  opened.push(search);
  const find: Bench['find'] = (text, more = {}, of = ['acme']) =>
    search.search(of, { text, page: 1, pageSize: 50, ...more });
  return {
    search,
    embedder,
    set(tenantId, ...tools) {
      const before = tenants.get(tenantId) ?? [];
      tenants.set(tenantId, tools);
      const toolIds = new Set([...before, ...tools].map(({ manifest }) => manifest.tool_id));
      for (const listener of listeners) listener({ tenantId, toolIds: [...toolIds] });
    },
    find,
    ids: async (...given) => (await find(...given)).found.map((one) => one.tool.manifest.tool_id),
  };
}

const WEATHER = tool('sky', 'Tells the forecast.', { category: 'external_api', tags: ['outdoor', 'daily'] });
const MAIL = tool('post', 'Delivers a letter.', { executor: { kind: 'http' } });
const MONEY = tool('bank', 'Changes currency.', { tags: ['daily'] });

describe('what is found', () => {
  test('REG-05.1 by meaning, where no word is the same', async () => {
    const { set, find } = setUp();
    set('acme', WEATHER, MAIL, MONEY);
    const answer = await find('Do I need an umbrella?');
    expect(answer.found.map((one) => one.tool.manifest.tool_id)).toEqual(['sky']);
    expect(answer).toMatchObject({ total: 1, mode: 'hybrid', warnings: [] });
    expect(answer.found[0]?.similarity).toBeGreaterThan(0.9);
  });

  test('REG-05.4 by words, where the meaning is unknown', async () => {
    const { set, ids } = setUp();
    set('acme', tool('a', 'Flurbles the gronk.'), MAIL);
    expect(await ids('flurble')).toEqual(['a']);
  });

  test('REG-05 the threshold bounds what is found by meaning alone', async () => {
    const { set, ids } = setUp();
    set('acme', WEATHER, tool('a', 'weather mail'), tool('b', 'mail'));
    expect(await ids('umbrella', { threshold: 0.7 })).toEqual(['sky', 'a']);
    expect(await ids('umbrella', { threshold: 0.95 })).toEqual(['sky']);
    expect(await ids('umbrella', { threshold: 0 })).toEqual(['sky', 'a', 'b']);
    expect(await ids('umbrella', { threshold: 1 })).toEqual([]);
    expect(await ids('mail', { threshold: 1 })).toContain('b');
  });

  test('REG-05.3 the same threshold asks for a larger cosine of a model whose unrelated texts are nearer', async () => {
    for (const [boundaryCosine, found] of [
      [0.5, ['sky', 'a']],
      [0.75, ['sky']],
    ] as const) {
      const traits = { dimensions: 5, boundaryCosine, relatedCosine: 0.9 };
      const { set, ids } = setUp({ embedder: { ...conceptEmbedder(), traits } });
      set('acme', WEATHER, tool('a', 'weather mail'));
      expect(await ids('umbrella'), `${boundaryCosine}`).toEqual(found);
    }
  });

  test('REG-05 the words of a path do not steer, neither as words nor as meaning', async () => {
    const { set, ids, embedder } = setUp();
    set('acme', WEATHER, MAIL, tool('reader', 'Summarises a document.'));
    expect(await ids('summarise /home/ann/letter/forecast.md')).toEqual(['reader']);
    expect(embedder.asked).not.toContain('summarise /home/ann/letter/forecast.md');
    expect(await ids('letter.md')).toEqual(['post']);
  });

  test('words and meaning together go before either alone', async () => {
    const { set, ids } = setUp();
    set(
      'acme',
      tool('meaning', 'Tells the weather.'),
      tool('both', 'Tells the forecast.'),
      tool('word', 'forecast money'),
    );
    expect((await ids('forecast'))[0]).toBe('both');
  });

  test('the id of a tool finds it first', async () => {
    const { set, ids } = setUp();
    set('acme', tool('mail', 'x'), tool('other', 'mail mail mail, letter and post', { tool_name: 'mail' }));
    expect((await ids(' mail '))[0]).toBe('mail');
  });

  test.each([
    ['nothing', ''],
    ['blanks', ' \n '],
    ['signs', '?!.,'],
    ['4096 characters of emoji', '🙂'.repeat(2048)],
    ['half an emoji', '\ud83d'],
  ])('a query of %s finds nothing and asks nobody', async (_, text) => {
    const { set, find, embedder } = setUp();
    set('acme', WEATHER);
    await find('rain');
    const asked = embedder.asked.length;
    expect(await find(text, { threshold: 0 })).toMatchObject({ found: [], total: 0, mode: 'hybrid', warnings: [] });
    expect(embedder.asked).toHaveLength(asked);
  });

  test('a tool with a description of 5 MB, and one with an odd schema, are found', async () => {
    const { set, ids } = setUp();
    const cyclic = { type: 'object', properties: { self: { $ref: '#' }, x: true } } as Record<string, unknown>;
    set(
      'acme',
      tool('big', `forecast ${'x '.repeat(2.5 * MiB)}`),
      tool('odd', 'letter', { parameters_schema: cyclic }),
    );
    expect(await ids('rain')).toEqual(['big']);
    expect(await ids('message')).toEqual(['odd']);
  });
});

describe('filters and pages', () => {
  test('REG-05.5 filters hold before anything is counted', async () => {
    const { set, find, ids } = setUp();
    set('acme', WEATHER, MAIL, MONEY);
    const all = { threshold: 0 };
    expect((await ids('rain', all)).sort()).toEqual(['bank', 'post', 'sky']);
    expect(await ids('rain', { ...all, category: 'external_api' })).toEqual(['sky']);
    expect(await ids('rain', { ...all, executor: 'http' })).toEqual(['post']);
    expect((await ids('rain', { ...all, tags: ['daily'] })).sort()).toEqual(['bank', 'sky']);
    expect(await ids('rain', { ...all, tags: ['daily', 'outdoor'] })).toEqual(['sky']);
    const visible = (one: ToolVersion): boolean => one.manifest.tool_id !== 'sky';
    expect(await find('rain', { ...all, visible })).toMatchObject({ total: 2 });
    expect(await find('forecast', { visible })).toMatchObject({ total: 0, found: [] });
  });

  test('what a key stands for is asked once, until any tool changes', async () => {
    const { set, ids } = setUp();
    set('acme', WEATHER, MAIL);
    let asked = 0;
    let hidden = 'post';
    const visible = (one: ToolVersion): boolean => {
      asked += 1;
      return one.manifest.tool_id !== hidden;
    };
    const filter = { threshold: 0, visible, visibleKey: {} };
    expect(await ids('rain', filter)).toEqual(['sky']);
    expect(await ids('mail', filter)).toEqual(['sky']);
    expect(asked).toBe(2);
    expect(await ids('rain', { ...filter, tags: ['daily'] })).toEqual(['sky']);
    expect(await ids('rain', { ...filter, tags: ['other'] })).toEqual([]);
    hidden = 'sky';
    expect(await ids('rain', filter)).toEqual(['sky']);
    expect(await ids('rain', { ...filter, visibleKey: {} })).toEqual(['post']);
    set('globex', MONEY);
    expect(await ids('rain', filter)).toEqual(['post']);
    expect(await ids('rain', filter, ['globex'])).toEqual(['bank']);
  });

  test('what is not visible does not change the scores of what is', async () => {
    const { set, find } = setUp();
    set('acme', WEATHER, tool('hidden', 'forecast forecast weather'), MAIL);
    const visible = (one: ToolVersion): boolean => one.manifest.tool_id !== 'hidden';
    const scores = async (more: Partial<ToolSearchQuery>) =>
      (await find('forecast', more)).found.find((one) => one.tool.manifest.tool_id === 'sky')?.score;
    expect(await scores({ visible })).toBe(await scores({}));
  });

  test('REG-05.8 pages are stable, and equal scores are ordered by id', async () => {
    const { set, find, ids } = setUp();
    set('acme', ...['d', 'b', 'a', 'e', 'c'].map((id) => tool(id, 'Tells the weather.', { tool_name: 'same' })));
    const page = (number: number) => ids('rain', { page: number, pageSize: 2 });
    expect([await page(1), await page(2), await page(3), await page(4)]).toEqual([['a', 'b'], ['c', 'd'], ['e'], []]);
    expect(await find('rain', { page: 2, pageSize: 2 })).toMatchObject({ total: 5 });
  });

  test('REG-05 a tenant finds its own tools only, and several tenants are ranked as one', async () => {
    const { set, ids } = setUp();
    set('acme', WEATHER);
    set('globex', tool('globex_rain', 'Rain and weather'), tool('globex_mail', 'mail'));
    expect(await ids('weather rain')).toEqual(['sky']);
    expect(await ids('weather rain', {}, ['globex'])).toEqual(['globex_rain']);
    expect(await ids('weather rain', {}, ['acme', 'globex', 'acme'])).toEqual(['globex_rain', 'sky']);
    expect(await ids('weather rain', {}, ['nobody'])).toEqual([]);
  });
});

describe('changes', () => {
  test('REG-11 what comes, changes and goes is found as it is now', async () => {
    const { set, ids } = setUp();
    set('acme', WEATHER, MAIL);
    expect(await ids('letter')).toEqual(['post']);
    set('acme', WEATHER, tool('post', 'Changes currency.'), tool('new', 'Delivers a letter.'));
    expect(await ids('letter')).toEqual(['new']);
    expect(await ids('euro')).toEqual(['post']);
    set('acme', WEATHER);
    expect(await ids('letter')).toEqual([]);
  });

  test('many changes one after the other leave one state', async () => {
    const { set, ids } = setUp();
    for (let at = 0; at < 60; at += 1) {
      set('acme', ...Array.from({ length: at % 7 }, (_, number) => tool(`t${number}`, `weather ${at}`)));
      await ids('rain');
    }
    set('acme', WEATHER, MAIL);
    expect(await ids('rain')).toEqual(['sky']);
  });

  test('tools are embedded after a quiet time, and progress counts them from the start', async () => {
    const { set, search, embedder } = setUp();
    set('acme', WEATHER, MAIL);
    expect(search.progress('acme')).toEqual({ indexed: 0, pending: 2, failed: 0 });
    await expect.poll(() => search.progress('acme')).toEqual({ indexed: 2, pending: 0, failed: 0 });
    expect(embedder.asked.length).toBeGreaterThan(0);
    expect(search.progress('globex')).toEqual({ indexed: 0, pending: 0, failed: 0 });
  });
});

describe('a failing embedder', () => {
  test('REG-05.9 keywords answer with the warning E3005, and meaning is back by itself', async () => {
    const { set, find, ids, embedder } = setUp({ skipMs: 120_000 });
    set('acme', WEATHER, MAIL);
    embedder.answer = async () => {
      throw new Error('secret detail of the cause');
    };
    const down = await find('forecast');
    expect(down).toMatchObject({ mode: 'keyword', total: 1, warnings: [{ code: 'E3005' }] });
    expect(down.found[0]?.similarity).toBeUndefined();
    expect(JSON.stringify(down)).not.toContain('secret detail');
    embedder.answer = undefined;
    await expect.poll(() => ids('umbrella')).toEqual(['sky']);
    expect(await find('umbrella')).toMatchObject({ mode: 'hybrid', warnings: [] });
  });

  test.each([
    ['other dimensions', async (texts: readonly string[]) => texts.map(() => new Float32Array(3).fill(1))],
    ['NaN', async (texts: readonly string[]) => texts.map(() => new Float32Array(5).fill(Number.NaN))],
    ['too little', async () => [conceptVector('rain')].slice(1)],
  ])('REG-05 one that answers with %s is the same as none', async (_, answer) => {
    const { set, find, embedder } = setUp();
    set('acme', WEATHER);
    embedder.answer = answer;
    expect(await find('forecast')).toMatchObject({ mode: 'keyword', total: 1, warnings: [{ code: 'E3005' }] });
  });

  test('REG-05.9 an index that fails leaves keywords, with the warning', async () => {
    const index = {
      ...memoryVectorIndex(),
      search: async () => {
        throw new Error('down');
      },
    };
    const { set, find } = setUp({ index });
    set('acme', WEATHER);
    expect(await find('forecast')).toMatchObject({ mode: 'keyword', total: 1, warnings: [{ code: 'E3005' }] });
  });

  test('without an embedder keywords answer, and nobody is warned', async () => {
    const { set, find, search } = setUp({ withEmbedder: false });
    set('acme', WEATHER, MAIL);
    expect(await find('forecasts')).toMatchObject({ mode: 'keyword', total: 1, warnings: [] });
    expect(search.progress()).toEqual({ indexed: 0, pending: 0, failed: 0 });
  });

  test('closing closes the embedder and listens no more', async () => {
    const { set, search, embedder } = setUp();
    await search.close();
    await search.close();
    set('acme', WEATHER);
    expect([embedder.closed, search.progress()]).toEqual([true, { indexed: 0, pending: 0, failed: 0 }]);
  });
});

test('REG-11.2 a hundred thousand tools are built in slices and searched', async () => {
  const { set, find } = setUp({ withEmbedder: false });
  const many = Array.from({ length: 100_000 }, (_, at) => {
    const one = tool('t', 'weather');
    return {
      ...one,
      contentHash: `${at}`,
      manifest: { ...one.manifest, tool_id: `t${at}`, description: `word${at} common` },
    };
  });
  set('acme', ...many);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  expect(await find('word77777')).toMatchObject({ total: 1, found: [{ tool: { manifest: { tool_id: 't77777' } } }] });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
  expect(await find('common', { pageSize: 200 })).toMatchObject({ total: 1000 });
});

test('REG-11.4 a search of a hundred thousand tools reads those that it found, not the others', async () => {
  const { set, find } = setUp({ withEmbedder: false });
  let read = 0;
  const many = Array.from({ length: 100_000 }, (_, at) => {
    const one = tool('t', 'weather');
    const { manifest: _manifest, ...rest } = { ...one, contentHash: `${at}` };
    const manifest = { ...one.manifest, tool_id: `t${at}`, description: `word${at % 1000} common` };
    return Object.defineProperty(rest as ToolVersion, 'manifest', {
      enumerable: true,
      get: () => {
        read += 1;
        return manifest;
      },
    });
  });
  set('acme', ...many);
  expect(await find('word777', { pageSize: 10 })).toMatchObject({ total: 100 });
  read = 0;
  expect(await find('word778', { pageSize: 10 })).toMatchObject({ total: 100 });
  expect(read).toBeLessThan(100 * 10);
});
