import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { type ConceptEmbedder, conceptEmbedder, conceptVector } from '../search.fixture.ts';
import { type CheckedEmbedder, checkedEmbedder, isBadAnswer } from './checked-embedder.ts';
import { REFERENCE_PAIRS } from './measure-traits.ts';

function setUp(): { embedder: ConceptEmbedder; checked: CheckedEmbedder; later(ms: number): void } {
  const embedder = conceptEmbedder();
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const checked = checkedEmbedder({ embedder, clock, log: silentLog });
  const later = (ms: number): void => {
    now += ms;
  };
  return { embedder, checked, later };
}

const failing = async (): Promise<never> => {
  throw new Error('no model');
};

test('vectors come back with norm 1, many texts in turns of as many as the adapter takes', async () => {
  const { embedder, checked } = setUp();
  const sizes: number[] = [];
  embedder.answer = async (texts) => {
    sizes.push(texts.length);
    return texts.map((text) => Float32Array.of(3, 4, text.length, 0, 0));
  };
  const vectors = await checked.embed(
    Array.from({ length: 19 }, (_, at) => 'x'.repeat(at)),
    1000,
  );
  expect(sizes).toEqual([8, 8, 3]);
  vectors.forEach((vector, at) => {
    expect(Math.hypot(...vector)).toBeCloseTo(1);
    expect((vector[2] as number) / (vector[0] as number)).toBeCloseTo(at / 3);
  });
  expect(await checked.embed([], 1000)).toEqual([]);
});

test('a text is cut to what the adapter takes, and well formed', async () => {
  const { embedder, checked } = setUp();
  await checked.embed([`x${'🙂'.repeat(4000)}`], 1000);
  expect(embedder.asked[0]?.length).toBe(2000);
  expect(embedder.asked[0]?.isWellFormed()).toBe(true);
});

test.each([
  ['too few vectors', [conceptVector('rain')]],
  ['too many vectors', [conceptVector('rain'), conceptVector('rain'), conceptVector('rain')]],
  ['vectors of another length', [new Float32Array(4).fill(1), new Float32Array(4).fill(1)]],
  ['vectors of two lengths', [conceptVector('rain'), Float32Array.of(1)]],
  ['NaN', [conceptVector('rain'), Float32Array.of(Number.NaN, 0, 0, 0, 1)]],
  ['infinity', [conceptVector('rain'), Float32Array.of(Number.POSITIVE_INFINITY, 0, 0, 0, 1)]],
  ['zero', [conceptVector('rain'), new Float32Array(5)]],
  ['nothing', []],
])('REG-05 an answer with %s is refused with E3005', async (_, answer) => {
  const { embedder, checked } = setUp();
  embedder.answer = async () => answer;
  const error: unknown = await checked.embed(['one', 'two'], 1000).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'E3005' });
  expect(isBadAnswer(error)).toBe(true);
  expect(checked.pauseMs()).toBeGreaterThan(0);
});

test('a failed embedder is left alone for longer each time, and one success ends that', async () => {
  const { embedder, checked, later } = setUp();
  embedder.answer = failing;
  const pauses: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    await expect(checked.embed(['x'], 1000)).rejects.toMatchObject({ code: 'E3005' });
    pauses.push(checked.pauseMs());
    const asked = embedder.asked.length;
    await expect(checked.embed(['x'], 1000)).rejects.toMatchObject({ code: 'E3005' });
    expect(embedder.asked).toHaveLength(asked);
    later(checked.pauseMs());
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  embedder.answer = undefined;
  await checked.embed(['rain'], 1000);
  expect(checked.pauseMs()).toBe(0);
  embedder.answer = failing;
  await expect(checked.embed(['x'], 1000)).rejects.toThrow();
  expect(checked.pauseMs()).toBe(1000);
});

test('an embedder that hangs and listens to no signal holds nobody', async () => {
  const { embedder, checked } = setUp();
  embedder.answer = () => new Promise(() => undefined);
  await expect(checked.embed(['x'], 20)).rejects.toThrow('did not answer within 20 ms');
});

test('what the embedder says of its failure is kept, what others throw is not shown', async () => {
  const { embedder, checked, later } = setUp();
  embedder.answer = async () => {
    throw new ToolLayerError('E3005', 'Start the server.');
  };
  await expect(checked.embed(['x'], 1000)).rejects.toThrow('Start the server.');
  later(60_000);
  embedder.answer = failing;
  await expect(checked.embed(['x'], 1000)).rejects.toThrow(/^The embedder failed\. /);
});

test('closing ends what waits, refuses what comes, and closes the adapter', async () => {
  const { embedder, checked } = setUp();
  embedder.answer = () => new Promise(() => undefined);
  const waiting = checked.embed(['x'], 60_000);
  const ended = expect(waiting).rejects.toMatchObject({ code: 'E3005' });
  await sleep(1);
  await checked.close();
  await ended;
  expect(embedder.closed).toBe(true);
  await expect(checked.embed(['x'], 1000)).rejects.toMatchObject({ code: 'E3005' });
});

test('REG-06 an unknown model is measured once, with a few texts', async () => {
  const embedder = conceptEmbedder();
  const { traits: _, ...unknown } = embedder;
  const clock = { now: () => 0, monotonic: () => 0 };
  const checked = checkedEmbedder({ embedder: { ...unknown, embed: embedder.embed }, clock, log: silentLog });
  const [one, other] = await Promise.all([checked.traits(), checked.traits()]);
  expect(one).toBe(other);
  expect(one.dimensions).toBe(5);
  expect(one.relatedCosine).toBeGreaterThanOrEqual(-1);
  expect(embedder.asked).toHaveLength(REFERENCE_PAIRS.length * 2);
  await checked.traits();
  expect(embedder.asked).toHaveLength(REFERENCE_PAIRS.length * 2);
});

test('during the pause after a bad answer other texts are refused, but their answer was not bad', async () => {
  const { embedder, checked } = setUp();
  embedder.answer = async (texts) => texts.map(() => Float32Array.of(Number.NaN));
  const bad = await checked.embed(['one'], 1000).catch((error: unknown) => error);
  const pausing = await checked.embed(['other'], 1000).catch((error: unknown) => error);
  expect([isBadAnswer(bad), isBadAnswer(pausing)]).toEqual([true, false]);
  expect(embedder.asked).toEqual(['one']);
});
