import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { QuarantineStore, UpstreamTool } from '../quarantine-store.port.ts';

/** Conformance of every QuarantineStore. `open` returns an empty store each time. */
export function quarantineStoreConformance(test: TestCase, adapter: string, open: OpenStore<QuarantineStore>): void {
  const check = casesOver(test, adapter, open);

  check('an empty store knows no tools of upstreams, and forgets what is not there', async (store) => {
    deepEqual(await store.loadAll(), []);
    await store.removeUpstream('acme', 'files');
    await store.putAll([]);
    deepEqual(await store.loadAll(), []);
  });

  check('a tool of an upstream is kept whole', async (store) => {
    const tools = [
      tool('a'),
      { ...tool('b'), ...WAITING },
      { ...tool('c'), block: 'absent' as const, rejectedHash: 'r' },
    ];
    await store.putAll(tools);
    deepEqual(sorted(await store.loadAll()), tools);
  });

  check('a tool of the same tenant and id is replaced as a whole', async (store) => {
    await store.putAll([{ ...tool('a'), ...WAITING, rejectedHash: 'r' }, tool('b')]);
    const { acceptedHash: _hash, version: _version, ...first } = tool('a');
    const bare = { ...first, upstream: 'mail', tool: 'other', noticedAt: '2027-01-02T03:04:05.678Z' };
    await store.putAll([{ ...bare, block: 'new' }]);
    deepEqual(sorted(await store.loadAll()), [{ ...bare, block: 'new' }, tool('b')]);
    await store.putAll([tool('a'), { ...tool('a'), version: '9.0.0' }]);
    deepEqual(sorted(await store.loadAll()), [{ ...tool('a'), version: '9.0.0' }, tool('b')]);
  });

  check('an upstream is forgotten for its tenant alone', async (store) => {
    const others = [
      { ...tool('a'), tenantId: 'globex' },
      { ...tool('b'), upstream: 'mail' },
    ];
    await store.putAll([tool('a'), tool('c'), ...others]);
    await store.removeUpstream('acme', 'files');
    deepEqual(sorted(await store.loadAll()), others);
  });

  check('each change of a tool gives another print, and a look none', async (store) => {
    const changes = [
      () => store.putAll([tool('a'), tool('b')]),
      () => store.putAll([{ ...tool('a'), block: 'rejected' }]),
      () => store.putAll([{ ...tool('a'), tenantId: 'globex' }]),
      () => store.removeUpstream('acme', 'files'),
    ];
    for (const change of changes) {
      const before = await store.print();
      equal(await store.print(), before);
      await change();
      notEqual(await store.print(), before);
    }
  });

  check('many are kept, and writers of the same tools at the same time leave one of each', async (store) => {
    const many = Array.from({ length: 1_000 }, (_, at) => tool(`t${String(at).padStart(4, '0')}`));
    await Promise.all([store.putAll(many), store.putAll(many.toReversed()), store.putAll(many)]);
    deepEqual(sorted(await store.loadAll()), many);
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
    deepEqual(await store.loadAll(), [hostile]);
  });
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

const sorted = (tools: readonly UpstreamTool[]): UpstreamTool[] =>
  [...tools].sort((one, other) => (one.toolId < other.toolId ? -1 : 1));
