import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { QuarantineStore, UpstreamTool } from '../quarantine-store.port.ts';

/** Conformance of every QuarantineStore. `open` returns an empty store each time. */
export function quarantineStoreConformance(test: TestCase, adapter: string, open: OpenStore<QuarantineStore>): void {
  const check = casesOver(test, adapter, open);

  check('an empty store knows no tools of upstreams, and forgets what is not there', async (store) => {
    deepEqual(bare(await store.load()), []);
    await store.removeUpstream('acme', 'files');
    await store.putAll([]);
    deepEqual(bare(await store.load()), []);
  });

  check('a tool of an upstream is kept whole', async (store) => {
    const tools = [
      tool('a'),
      { ...tool('b'), ...WAITING },
      { ...tool('c'), block: 'absent' as const, rejectedHash: 'r' },
    ];
    await store.putAll(tools);
    deepEqual(bare(await store.load()), tools);
  });

  check('a tool of the same tenant and id is replaced as a whole', async (store) => {
    const [first] = await put(store, { ...tool('a'), ...WAITING, rejectedHash: 'r' }, tool('b'));
    const { acceptedHash: _hash, version: _version, ...few } = tool('a');
    const other = { ...few, upstream: 'mail', tool: 'other', noticedAt: '2027-01-02T03:04:05.678Z' };
    const [second] = await put(store, { ...other, block: 'new', revision: first?.revision });
    deepEqual(bare(await store.load()), [{ ...other, block: 'new' }, tool('b')]);
    const { revision } = second ?? {};
    await put(store, { ...tool('a'), revision }, { ...tool('a'), version: '9.0.0', revision });
    deepEqual(bare(await store.load()), [{ ...tool('a'), version: '9.0.0' }, tool('b')]);
  });

  check('AUD-07.5 no tool is accepted or blocked without its events', async (store) => {
    await changedWithEvents(
      (events) => store.putAll([tool('a')], events),
      () => store.load(),
    );
    await unchangedWithoutEvents((events) => store.putAll([{ ...tool('a'), block: 'rejected' }], events));
  });

  check('an upstream is forgotten for its tenant alone', async (store) => {
    const others = [
      { ...tool('a'), tenantId: 'globex' },
      { ...tool('b'), upstream: 'mail' },
    ];
    await store.putAll([tool('a'), tool('c'), ...others]);
    await store.removeUpstream('acme', 'files');
    deepEqual(bare(await store.load()), others);
  });

  check('each change of a tool gives another print of its place, and of no other, and a look none', async (store) => {
    const [a] = await put(store, tool('a'), tool('b'));
    const changes: readonly (readonly [place: string, change: () => Promise<unknown>])[] = [
      ['acme files', () => put(store, { ...tool('a'), block: 'rejected', revision: a?.revision })],
      ['globex files', () => put(store, { ...tool('a'), tenantId: 'globex' })],
      ['acme mail', () => put(store, { ...tool('c'), upstream: 'mail' })],
      ['acme files', () => store.removeUpstream('acme', 'files')],
    ];
    const prints = async () =>
      new Map((await store.prints()).map(({ tenantId, name, print }) => [`${tenantId} ${name}`, print]));
    for (const [place, change] of changes) {
      const before = await prints();
      deepEqual(await prints(), before);
      await change();
      const after = await prints();
      notEqual(after.get(place), before.get(place));
      for (const known of [before, after]) known.delete(place);
      deepEqual(after, before);
    }
  });

  check('one place can be read alone', async (store) => {
    const other = { ...tool('b'), upstream: 'mail' };
    await put(store, tool('a'), other, { ...tool('c'), tenantId: 'globex', upstream: 'mail' });
    deepEqual(bare(await store.load({ tenantId: 'acme', name: 'mail' })), [other]);
    deepEqual(bare(await store.load({ tenantId: 'globex', name: 'files' })), []);
  });

  check('OPS-04.1 who read a tool before another wrote it writes nothing', async (store) => {
    const [a, b] = await put(store, tool('a'), tool('b'));
    const rejected = { ...tool('a'), block: 'rejected', rejectedHash: 'r' } as const;
    const [since] = await put(store, { ...rejected, revision: a?.revision });
    const late = { ...tool('b'), version: '9.0.0', revision: b?.revision };
    equal(await store.putAll([late, { ...tool('a'), revision: a?.revision }]), undefined);
    equal(await store.putAll([late, tool('a')]), undefined);
    deepEqual(bare(await store.load()), [rejected, tool('b')]);
    // Two that write the same agree.
    await put(store, { ...rejected, noticedAt: '2027-01-02T03:04:05.678Z' });
    await put(store, { ...rejected, revision: since?.revision });
    await store.removeUpstream('acme', 'files');
    equal(await store.putAll([late]), undefined);
    deepEqual(await store.load(), []);
  });

  check('many are kept, and writers of the same tools at the same time leave one of each', async (store) => {
    const many = Array.from({ length: 1_000 }, (_, at) => tool(`t${String(at).padStart(4, '0')}`));
    await Promise.all([put(store, ...many), put(store, ...many.toReversed()), put(store, ...many)]);
    deepEqual(bare(await store.load()), many);
  });

  check('hostile text of a server comes back as it was', async (store) => {
    const text = `nul \0, quote ' " \\, lone \ud800, \u202e, 🙂`;
    const definition = { name: text, description: text, inputSchema: { [text]: { deep: [text] } } };
    const hostile: UpstreamTool = {
      ...tool('a'),
      tool: text,
      block: 'flagged',
      served: {
        hash: 'h',
        definition,
        serverVersion: text,
        findings: [{ kind: 'k', path: `/${text}`, excerpt: text }],
      },
    };
    await store.putAll([hostile]);
    deepEqual(bare(await store.load()), [hostile]);
  });
}

/** Writes what nobody else wrote. */
async function put(store: QuarantineStore, ...tools: readonly UpstreamTool[]): Promise<readonly UpstreamTool[]> {
  const written = await store.putAll(tools);
  ok(written);
  return written;
}

const tool = (name: string): UpstreamTool => ({
  tenantId: 'acme',
  toolId: `files__${name}`,
  upstream: 'files',
  tool: name,
  acceptedHash: `hash of ${name}`,
  version: '1.0.0',
  noticedAt: '2026-01-02T03:04:05.678Z',
});

const WAITING: Pick<UpstreamTool, 'block' | 'served'> = {
  block: 'changed',
  served: {
    hash: 'other',
    definition: { name: 'b', description: 'Other.', inputSchema: { type: 'object' }, annotations: { title: 'B' } },
    serverVersion: '1.1.0',
    findings: [],
  },
};

/** By id, without the revisions that the store chose. */
const bare = (tools: readonly UpstreamTool[]): UpstreamTool[] =>
  tools.map(({ revision: _revision, ...tool }) => tool).sort((one, other) => (one.toolId < other.toolId ? -1 : 1));
