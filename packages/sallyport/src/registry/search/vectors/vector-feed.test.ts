import { systemClock } from '@sallyport/std/clock';
import { afterEach, expect, test } from 'vitest';
import { memoryVectorStore } from '../../../../test/stores/memory-vector-store.ts';
import { memoryVectorIndex } from '../../../storage/memory/memory-vector-index.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { VectorIndex, VectorStore } from '../../vectors.port.ts';
import { type ConceptEmbedder, conceptEmbedder, conceptVector, tool } from '../search.fixture.ts';
import { checkedEmbedder } from './checked-embedder.ts';
import { unitVector } from './unit-vector.ts';
import { createVectorFeed, type VectorFeed } from './vector-feed.ts';

interface Bench {
  readonly embedder: ConceptEmbedder;
  readonly index: VectorIndex;
  readonly store: VectorStore;
  readonly feed: VectorFeed;
  /** Ids of the tools of acme that are similar to a text. */
  near(text: string): Promise<string[]>;
}

const opened: VectorFeed[] = [];
afterEach(async () => {
  for (const feed of opened.splice(0)) await feed.close();
});

/** A feed whose clock runs a thousand times as fast, so that pauses are short. */
function setUp({ embedder = conceptEmbedder(), store = memoryVectorStore() } = {}): Bench {
  const index = memoryVectorIndex();
  const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() * 1000 };
  const checked = { ...checkedEmbedder({ embedder, clock, log: silentLog }) };
  const { pauseMs } = checked;
  checked.pauseMs = () => pauseMs() / 1000;
  const feed = createVectorFeed({ embedder: checked, index, store, clock: systemClock, log: silentLog });
  opened.push(feed);
  const near = async (text: string): Promise<string[]> => {
    const queries = [unitVector(conceptVector(text)) as Float32Array];
    return [...(await index.search('acme', { queries, cosineMin: 0.8, toolsMax: 100, also: [] })).keys()].sort();
  };
  return { embedder, index, store, feed, near };
}

const until = (feed: VectorFeed): Promise<void> => feed.settled('acme', 20_000);

test('REG-05 tools are embedded in the background, and progress is told', async () => {
  const { feed, near } = setUp();
  expect(feed.progress()).toEqual({ indexed: 0, pending: 0, failed: 0 });
  feed.want('acme', [tool('a', 'weather'), tool('b', 'mail')]);
  expect(feed.progress('acme')).toEqual({ indexed: 0, pending: 2, failed: 0 });
  await until(feed);
  expect(feed.progress('acme')).toEqual({ indexed: 2, pending: 0, failed: 0 });
  expect(feed.progress('globex')).toEqual({ indexed: 0, pending: 0, failed: 0 });
  expect(await near('rain')).toEqual(['a']);
});

test('REG-06 a vector is made once: the store has it for the next start and for other tenants', async () => {
  const store = memoryVectorStore();
  const first = setUp({ store });
  first.feed.want('acme', [tool('a', 'weather')]);
  await until(first.feed);
  const second = setUp({ store });
  second.feed.want('acme', [tool('a', 'weather', { version: '3.0.0' })]);
  await until(second.feed);
  expect(second.embedder.asked).toEqual([]);
  expect(await second.near('rain')).toEqual(['a']);
});

test('REG-06 after a restart what was made before is found while the embedder still works on what is new', async () => {
  const store = memoryVectorStore();
  const before = Array.from({ length: 300 }, (_, at) => tool(`old-${at}`, `weather ${at}`));
  const first = setUp({ store });
  first.feed.want('acme', before);
  await until(first.feed);
  const second = setUp({ store });
  const go = Promise.withResolvers<void>();
  second.embedder.answer = async (texts) => {
    await go.promise;
    return texts.map(conceptVector);
  };
  second.feed.want(
    'acme',
    Array.from({ length: 300 }, (_, at) => tool(`new-${at}`, `mail ${at}`)),
  );
  second.feed.want('acme', before);
  await expect.poll(() => second.feed.progress('acme')).toEqual({ indexed: 300, pending: 300, failed: 0 });
  go.resolve();
  await until(second.feed);
  expect(second.feed.progress('acme')).toEqual({ indexed: 600, pending: 0, failed: 0 });
});

test('a tool wanted while another is made is looked for before the rest is made', async () => {
  const store = memoryVectorStore();
  const first = setUp({ store });
  first.feed.want('acme', [tool('kept', 'weather')]);
  await until(first.feed);
  const second = setUp({ store });
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  second.embedder.answer = async (texts) => {
    asked.resolve();
    await go.promise;
    return texts.map(conceptVector);
  };
  second.feed.want(
    'acme',
    Array.from({ length: 20 }, (_, at) => tool(`new-${at}`, 'mail')),
  );
  await asked.promise;
  second.feed.want('acme', [tool('kept', 'weather')]);
  go.resolve();
  await until(second.feed);
  expect(await second.near('rain')).toEqual(['kept']);
  expect(second.feed.progress('acme')).toEqual({ indexed: 21, pending: 0, failed: 0 });
});

test('REG-06.5 another model makes its own vectors', async () => {
  const store = memoryVectorStore();
  const first = setUp({ store });
  first.feed.want('acme', [tool('a', 'weather')]);
  await until(first.feed);
  const second = setUp({ store, embedder: conceptEmbedder('another') });
  second.feed.want('acme', [tool('a', 'weather')]);
  await until(second.feed);
  expect(second.embedder.asked).toEqual(first.embedder.asked);
});

test('a changed tool gets another vector, a removed one loses it', async () => {
  const { feed, near } = setUp();
  feed.want('acme', [tool('a', 'weather'), tool('b', 'weather')]);
  await until(feed);
  feed.want('acme', [tool('a', 'mail')]);
  feed.drop('acme', ['b', 'absent']);
  await until(feed);
  expect(feed.progress('acme')).toEqual({ indexed: 1, pending: 0, failed: 0 });
  expect(await near('rain')).toEqual([]);
  expect(await near('letter')).toEqual(['a']);
});

test('what went or changed while it was embedded is not put', async () => {
  const { embedder, feed, near } = setUp();
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  embedder.answer = async (texts) => {
    asked.resolve();
    await go.promise;
    return texts.map(conceptVector);
  };
  feed.want('acme', [tool('a', 'weather'), tool('b', 'weather')]);
  await asked.promise;
  feed.drop('acme', ['a']);
  feed.want('acme', [tool('b', 'mail')]);
  go.resolve();
  await until(feed);
  expect(await near('rain')).toEqual([]);
  expect(await near('letter')).toEqual(['b']);
});

test('REG-05 a dead embedder is asked again until it is back, and nothing is lost', async () => {
  const { embedder, feed, near } = setUp();
  let failures = 0;
  embedder.answer = async (texts) => {
    failures += 1;
    if (failures < 4) throw new Error('down');
    return texts.map(conceptVector);
  };
  feed.want('acme', [tool('a', 'weather')]);
  await until(feed);
  expect(failures).toBe(4);
  expect(await near('rain')).toEqual(['a']);
});

test('a tool that the model has no vector for is given up, and the others are found', async () => {
  const { embedder, feed, near } = setUp();
  embedder.answer = async (texts) =>
    texts.map((text) => (text.includes('poison') ? Float32Array.of(Number.NaN) : conceptVector(text)));
  feed.want('acme', [tool('a', 'weather'), tool('b', 'poison weather'), tool('c', 'weather rain')]);
  await until(feed);
  expect(feed.progress('acme')).toEqual({ indexed: 2, pending: 0, failed: 1 });
  expect(await near('rain')).toEqual(['a', 'c']);
  const asked = embedder.asked.length;
  feed.want('acme', [tool('b', 'poison weather')]);
  expect([feed.progress('acme').pending, embedder.asked.length]).toEqual([0, asked]);
  feed.want('acme', [tool('b', 'weather')]);
  await until(feed);
  expect(feed.progress('acme')).toEqual({ indexed: 3, pending: 0, failed: 0 });
});

test('a store that fails is tried again', async () => {
  const kept = memoryVectorStore();
  let broken = true;
  const store: VectorStore = {
    ...kept,
    get: async (...given) => {
      if (broken) throw new Error('no database');
      return kept.get(...given);
    },
  };
  const { feed } = setUp({ store });
  feed.want('acme', [tool('a', 'weather')]);
  await feed.settled('acme', 50);
  expect(feed.progress('acme').pending).toBe(1);
  broken = false;
  await until(feed);
  expect(feed.progress('acme').indexed).toBe(1);
});

test('REG-11 ten thousand tools at once take turns with other work, a tenant at a time', async () => {
  const { feed } = setUp();
  const many = Array.from({ length: 10_000 }, (_, at) => tool(`t${at}`, `weather ${at % 50}`));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  feed.want('acme', many);
  feed.want('globex', [tool('a', 'mail')]);
  await feed.settled('globex', 20_000);
  expect(feed.progress('acme').pending).toBeGreaterThan(0);
  await until(feed);
  clearInterval(timer);
  expect(feed.progress()).toEqual({ indexed: 10_001, pending: 0, failed: 0 });
  expect(turns).toBeGreaterThan(3);
});

test('closing ends the work, even in a pause', async () => {
  const { embedder, feed } = setUp();
  embedder.answer = async () => {
    throw new Error('down');
  };
  feed.want('acme', [tool('a', 'weather')]);
  await feed.settled('acme', 5);
  await feed.close();
  feed.want('acme', [tool('b', 'weather')]);
  expect(feed.progress('acme').indexed).toBe(0);
});
