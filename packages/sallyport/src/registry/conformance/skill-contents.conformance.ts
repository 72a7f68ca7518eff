import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { KiB } from '@sallyport/std/bytes';
import { sha256 } from '@sallyport/std/sha256';
import type { SkillContentBounds, SkillContents } from '../skill-files.port.ts';

const LATER = 60_000;

/** Limits that the store under test must have. */
export const TESTED_BOUNDS: SkillContentBounds = { contentBytesMax: 4 * KiB, tenantBytesMax: 16 * KiB };

/** Conformance of every SkillContents. `open` returns an empty one each time, with {@link TESTED_BOUNDS}. */
export function skillContentsConformance(test: TestCase, adapter: string, open: OpenStore<SkillContents>): void {
  const check = casesOver(test, adapter, open);
  keepingCases(check);
  boundCases(check);
  sweepingCases(check);
}

type Check = ReturnType<typeof casesOver<SkillContents>>;

function keepingCases(check: Check): void {
  check('EXE-08 a content comes back as it was, empty and binary too', async (store) => {
    const given = contentsOf('', 'Grüße', Uint8Array.of(0, 255, 0, 10));
    await store.put('acme', given);
    for (const [hash, bytes] of given) deepEqual(await store.get('acme', hash), Buffer.from(bytes));
    equal(await store.get('acme', sha256('another')), undefined);
  });

  check('EXE-08 a content is of its tenant alone', async (store) => {
    const [hash, bytes] = contentOf('ours');
    await store.put('acme', new Map([[hash, bytes]]));
    for (const tenant of ['globex', '', 'acme\0', 'ac']) equal(await store.get(tenant, hash), undefined);
    await store.put('globex', new Map([[hash, bytes]]));
    await store.sweep('globex', new Set(), Date.now() + LATER);
    deepEqual(await store.get('acme', hash), Buffer.from('ours'));
  });

  check('the same content twice is kept once, at the same time too', async (store) => {
    const given = contentsOf('a', 'b');
    await Promise.all([store.put('acme', given), store.put('acme', given), store.put('acme', contentsOf('b', 'c'))]);
    equal(await store.sweep('acme', new Set(), Date.now() + LATER), 3);
    await store.put('acme', new Map());
  });
}

function boundCases(check: Check): void {
  const { contentBytesMax, tenantBytesMax } = TESTED_BOUNDS;

  check('a content of the largest size is kept, one byte more refuses all that came with it', async (store) => {
    const largest = Buffer.alloc(contentBytesMax, 1);
    await store.put('acme', new Map([[sha256(largest), largest]]));
    equal((await store.get('acme', sha256(largest)))?.length, contentBytesMax);
    const more = Buffer.alloc(contentBytesMax + 1);
    const [hash, bytes] = contentOf('beside');
    const both = new Map([[hash, bytes] as const, [sha256(more), more] as const]);
    await rejects(store.put('acme', both), { code: 'E3810' });
    equal(await store.get('acme', hash), undefined);
  });

  check(
    'a tenant has room up to its bound; what is there already takes none, and another tenant has its own',
    async (store) => {
      const part = Buffer.alloc(contentBytesMax);
      const fill = new Map<string, Uint8Array>();
      for (let index = 0; index < tenantBytesMax / contentBytesMax; index += 1) {
        part.writeUInt32LE(index);
        fill.set(sha256(part), Buffer.from(part));
        // In parts, as imports arrive.
        await store.put('acme', new Map([[sha256(part), Buffer.from(part)]]));
      }
      const [hash, bytes] = contentOf('one more');
      await rejects(store.put('acme', new Map([[hash, bytes]])), { code: 'E3810' });
      equal(await store.get('acme', hash), undefined);
      const [known = ''] = fill.keys();
      await store.put('acme', new Map([[known, fill.get(known) as Uint8Array]]));
      await store.put('globex', new Map([[hash, bytes]]));
      equal(await store.sweep('acme', new Set([known]), Date.now() + LATER), fill.size - 1);
      await store.put('acme', new Map([[hash, bytes]]));
    },
  );
}

function sweepingCases(check: Check): void {
  check('what is named stays, what was put since too, the rest goes', async (store) => {
    const [a, b] = ['a', 'b'].map(contentOf);
    if (a === undefined || b === undefined) throw new Error('no contents');
    await store.put('acme', new Map([a, b]));
    equal(await store.sweep('acme', new Set(), Date.now() - LATER), 0);
    equal(await store.sweep('acme', new Set([a[0]]), Date.now() + LATER), 1);
    deepEqual([await store.get('acme', a[0]), await store.get('acme', b[0])], [Buffer.from('a'), undefined]);
  });

  check('names in odd forms are hashes of nothing', async (store) => {
    const [hash, bytes] = contentOf('a');
    await store.put('acme', new Map([[hash, bytes]]));
    for (const odd of ['', hash.toUpperCase(), `${hash}\0`, "' or true --"])
      equal(await store.get('acme', odd), undefined);
    equal(await store.sweep('acme', new Set(["');--", hash.toUpperCase()]), Date.now() + LATER), 1);
  });
}

function contentOf(content: string | Uint8Array): [string, Uint8Array] {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return [sha256(bytes), bytes];
}

const contentsOf = (...contents: readonly (string | Uint8Array)[]): ReadonlyMap<string, Uint8Array> =>
  new Map(contents.map(contentOf));
