import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { sha256 } from '@sallyport/std/sha256';
import { OUTPUTS_PER_TOOL_MAX, type OutputKey, type OutputStore, type SeenOutput } from '../../output-store.port.ts';

const key = (more: Partial<OutputKey> = {}): OutputKey => ({
  tenantId: 'acme',
  ownerId: 'catalog',
  contentHash: sha256('tool'),
  inputHash: sha256('input'),
  ...more,
});

const output = (more: Partial<SeenOutput> = {}): SeenOutput => ({
  outputHash: sha256('output'),
  invocationId: 'first',
  at: 1_800_000_000_123,
  ...more,
});

const inputs = (count: number): OutputKey[] =>
  Array.from({ length: count }, (_, at) => key({ inputHash: sha256(`input ${at}`) }));

/** Requirements of every OutputStore. */
export function outputStoreConformance(test: TestCase, adapter: string, open: OpenStore<OutputStore>): void {
  const check = casesOver(test, adapter, open);

  check('PIPE-10 what an input gave first is remembered, whatever it gives later', async (store) => {
    deepEqual(await store.remember(key(), output()), output());
    for (const later of [output({ invocationId: 'later' }), output({ outputHash: sha256('else'), at: 5 })]) {
      deepEqual(await store.remember(key(), later), output());
    }
  });

  check('PIPE-10 an input that takes the place of another has its own output', async (store) => {
    // Begins as the other hash does, from which a place may be computed.
    const twin = key({ inputHash: `${key().inputHash.slice(0, 8)}${sha256('other').slice(8)}` });
    await store.remember(key(), output());
    const own = output({ outputHash: sha256('other output'), invocationId: 'own', at: 7 });
    for (const each of [own, output(), output({ invocationId: 'later' })])
      deepEqual(await store.remember(twin, each), own);
  });

  check('PIPE-10 of calls at the same moment one is the first, for all of them', async (store) => {
    const seen = Array.from({ length: 40 }, (_, at) =>
      output({ invocationId: `call-${at}`, outputHash: sha256(`output ${at}`), at }),
    );
    const answers = await Promise.all(seen.map((each) => store.remember(key(), each)));
    deepEqual(
      answers,
      answers.map(() => answers[0]),
    );
    equal(
      seen.some(({ invocationId }) => invocationId === answers[0]?.invocationId),
      true,
    );
    deepEqual(await store.remember(key(), output()), answers[0]);
  });

  check('PIPE-10 many inputs at the same moment each get their own answer', async (store) => {
    const keys = inputs(200);
    const first = (at: number): SeenOutput => output({ invocationId: `first ${at}` });
    deepEqual(
      await Promise.all(keys.map((each, at) => store.remember(each, first(at)))),
      keys.map((_, at) => first(at)),
    );
  });

  check('PIPE-10 outputs are of one tenant, one owner, one definition and one input', async (store) => {
    const odd = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a"'];
    const keys = [
      ...odd.map((tenantId) => key({ tenantId })),
      ...odd.map((ownerId) => key({ ownerId })),
      key({ contentHash: sha256('other') }),
      key({ inputHash: sha256('other') }),
    ];
    const own = (at: number): SeenOutput => output({ invocationId: `\0 ${at}` });
    for (const [at, each] of keys.entries()) deepEqual(await store.remember(each, own(at)), own(at));
    for (const [at, each] of keys.entries()) deepEqual(await store.remember(each, output()), own(at));
  });

  check('a tool has its bound, the newest input has room, and other tools keep theirs', async (store) => {
    const other = key({ contentHash: sha256('other') });
    await store.remember(other, output());
    const keys = inputs(OUTPUTS_PER_TOOL_MAX * 2);
    await Promise.all(keys.map((each) => store.remember(each, output())));
    const newest = key({ inputHash: sha256('newest') });
    await store.remember(newest, output());
    deepEqual(await store.remember(newest, output({ invocationId: 'again' })), output());
    deepEqual(await store.remember(other, output({ invocationId: 'again' })), output());
    equal((await store.forget(output().at + 1, keys.length * 2)) <= OUTPUTS_PER_TOOL_MAX + 1, true);
  });

  check('what was seen before a time is forgotten, a few at a time, and then it is new', async (store) => {
    const keys = inputs(3);
    for (const [at, each] of keys.entries()) await store.remember(each, output({ at: 10 + at }));
    equal(await store.forget(10, 10), 0);
    equal(await store.forget(12, 1), 1);
    equal(await store.forget(12, 10), 1);
    const again = output({ invocationId: 'again', at: 20 });
    const answers = [];
    for (const each of keys) answers.push(await store.remember(each, again));
    deepEqual(answers, [again, again, output({ at: 12 })]);
  });
}
