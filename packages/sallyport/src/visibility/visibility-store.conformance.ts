import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../domain/event/events-of.conformance.ts';
import type { StoredRule, VisibilityStore } from './visibility-store.port.ts';

/** Conformance of every VisibilityStore. `open` returns a store without rules each time; its revision may be any. */
export function visibilityStoreConformance(test: TestCase, adapter: string, open: OpenStore<VisibilityStore>): void {
  const check = casesOver(test, adapter, open);

  check('a store without rules says so', async (store) => {
    deepEqual((await store.loadAll()).rules, []);
    equal(await store.remove('acme', 'view', 'mail'), undefined);
  });

  check('rules of each kind are kept whole', async (store) => {
    const rules = [
      rule({ kind: 'activation', key: '["did:a","send"]', rule: { enabled: false, policy_overrides: {} } }),
      rule({ kind: 'availability', key: 'send', rule: { available: true, reason: 'bought' } }),
      rule({ kind: 'view', key: 'send', rule: { sources: [{ source: 'up', tools: [{ tool: 'a' }] }] } }),
    ];
    for (const each of rules) await store.put(each);
    deepEqual(sorted((await store.loadAll()).rules), rules);
  });

  check('a rule of the same tenant, kind and key is replaced', async (store) => {
    await store.put(rule({ rule: { available: true } }));
    await store.put(rule({ rule: { available: false } }));
    deepEqual((await store.loadAll()).rules, [rule({ rule: { available: false } })]);
  });

  check('a rule is removed once, and only for its tenant and kind', async (store) => {
    await store.put(rule({}));
    await store.put(rule({ tenantId: 'globex' }));
    await store.put(rule({ kind: 'view' }));
    equal(await store.remove('acme', 'availability', 'other'), undefined);
    equal(typeof (await store.remove('acme', 'availability', 'send')), 'number');
    equal(await store.remove('acme', 'availability', 'send'), undefined);
    deepEqual(sorted((await store.loadAll()).rules), [rule({ kind: 'view' }), rule({ tenantId: 'globex' })]);
  });

  check('AUD-07.5 no rule is kept or removed without its events', async (store) => {
    const state = () => store.loadAll();
    await changedWithEvents((events) => store.put(rule({}), events), state);
    await changedWithEvents((events) => store.remove('acme', 'availability', 'send', events), state);
    await unchangedWithoutEvents((events) => store.remove('acme', 'availability', 'send', events));
  });

  check('each change moves the revision by one, and nothing else does', async (store) => {
    const start = await store.revision();
    equal(await store.put(rule({})), start + 1);
    equal(await store.put(rule({})), start + 2);
    equal(await store.remove('acme', 'availability', 'none'), undefined);
    equal(await store.revision(), start + 2);
    equal(await store.remove('acme', 'availability', 'send'), start + 3);
    equal((await store.loadAll()).revision, start + 3);
  });

  check('writers at the same time are counted each', async (store) => {
    const start = await store.revision();
    const revisions = await Promise.all(Array.from({ length: 16 }, (_, at) => store.put(rule({ key: `tool-${at}` }))));
    deepEqual(
      revisions.sort((a, b) => a - b),
      Array.from({ length: 16 }, (_, at) => start + 1 + at),
    );
    equal((await store.loadAll()).rules.length, 16);
  });

  check('hostile text comes back as it was, and long keys are kept apart', async (store) => {
    const long = '🙂'.repeat(800);
    const rules = ['a\0', 'a\uFFFD', 'a\ud800', "'; drop table x; --", long, `${long}x`].map((key) =>
      rule({ tenantId: `t\0 \ud800${'🙂'.repeat(100)}`, key, rule: { reason: `\0 \ud800 " \\ ${key}` } }),
    );
    for (const each of rules) await store.put(each);
    deepEqual(sorted((await store.loadAll()).rules), sorted(rules));
    for (const { tenantId, kind, key } of rules) equal(typeof (await store.remove(tenantId, kind, key)), 'number');
    deepEqual((await store.loadAll()).rules, []);
  });
}

const rule = (changes: Partial<StoredRule>): StoredRule => ({
  tenantId: 'acme',
  kind: 'availability',
  key: 'send',
  rule: { available: true },
  ...changes,
});

const sorted = (rules: readonly StoredRule[]): StoredRule[] =>
  rules.toSorted((a, b) =>
    JSON.stringify([a.tenantId, a.kind, a.key]) < JSON.stringify([b.tenantId, b.kind, b.key]) ? -1 : 1,
  );
