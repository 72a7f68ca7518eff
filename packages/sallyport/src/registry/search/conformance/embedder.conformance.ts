import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Embedder } from '../../embedder.port.ts';
import { cosineOf, unitVector } from '../vectors/unit-vector.ts';

/** Conformance of every Embedder. `open` returns one with an answering model or a stand-in. */
export function embedderConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<{ readonly embedder: Embedder; close(): Promise<void> }>,
): void {
  const check = (name: string, run: (embedder: Embedder) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const { embedder, close } = await open();
      try {
        await run(embedder);
      } finally {
        await embedder.close();
        await close();
      }
    });

  check('REG-06 each text gets a vector of the same length, in order', async (embedder) => {
    const texts = ['a cat', 'stock prices', 'a cat'];
    const vectors = await embedder.embed(texts, never());
    equal(vectors.length, 3);
    equal(new Set(vectors.map(({ length }) => length)).size, 1);
    ok(cosine(vectors[0], vectors[2]) > 0.999);
    ok(cosine(vectors[0], vectors[1]) < 0.999);
  });

  check('what is known of the model is true', async (embedder) => {
    const [vector] = await embedder.embed(['a cat'], never());
    if (embedder.traits !== undefined) equal(vector?.length, embedder.traits.dimensions);
    ok(embedder.model.length > 0 && embedder.model.length <= 256);
  });

  check('no texts take no time', async (embedder) => deepEqual(await embedder.embed([], never()), []));

  check('as many texts of as many characters as it says', async (embedder) => {
    const texts = Array.from({ length: embedder.textsMax }, (_, at) => `${at} `.repeat(20));
    equal((await embedder.embed(texts, never())).length, embedder.textsMax);
    equal((await embedder.embed(['🙂 x'.repeat(10_000).slice(0, embedder.textCharactersMax)], never())).length, 1);
  });

  check('calls overlap without mixing answers', async (embedder) => {
    const [one, other, again] = await Promise.all([
      embedder.embed(['a cat'], never()),
      embedder.embed(['stock prices'], never()),
      embedder.embed(['a cat'], never()),
    ]);
    ok(cosine(one[0], again[0]) > 0.999);
    ok(cosine(one[0], other[0]) < 0.999);
  });

  check('an aborted call ends with the reason, and the next one works', async (embedder) => {
    const reason = new Error('enough');
    await rejects(embedder.embed(['a cat'], AbortSignal.abort(reason)), reason);
    const controller = new AbortController();
    const asked = embedder.embed(['a cat'], controller.signal);
    controller.abort(reason);
    await rejects(asked, reason);
    equal((await embedder.embed(['a cat'], never())).length, 1);
  });

  check('a closed embedder refuses with E3005', async (embedder) => {
    await embedder.close();
    await embedder.close();
    await rejects(embedder.embed(['a cat'], never()), { code: 'E3005' });
  });
}

const never = (): AbortSignal => new AbortController().signal;

function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return cosineOf(unitVector(one ?? []) ?? new Float32Array(), unitVector(other ?? []) ?? new Float32Array());
}
