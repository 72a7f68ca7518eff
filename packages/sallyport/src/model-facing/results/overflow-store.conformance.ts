import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { OVERFLOWS_PER_OWNER_MAX, type Overflow, type OverflowStore } from '../overflow-store.port.ts';

const overflow = (more: Partial<Overflow> = {}): Overflow => ({
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  userDid: 'did:user:u',
  invocationId: 'one',
  text: 'line\n'.repeat(3),
  keptAt: 1_800_000_000_123,
  ...more,
});

/** Requirements of every OverflowStore. */
export function overflowStoreConformance(test: TestCase, adapter: string, open: OpenStore<OverflowStore>): void {
  const check = casesOver(test, adapter, open);

  check('MOD-06 an overflow is found under its tenant and call, with its owner', async (store) => {
    const withoutUser: Overflow = { ...overflow({ invocationId: 'two' }), userDid: undefined };
    await store.keep(overflow());
    await store.keep(withoutUser);
    deepEqual(await store.find('acme', 'one'), overflow());
    equal((await store.find('acme', 'two'))?.userDid, undefined);
    equal(await store.find('other', 'one'), undefined);
    equal(await store.find('acme', 'three'), undefined);
  });

  check('MOD-06 a later run of the same call replaces its overflow', async (store) => {
    await store.keep(overflow());
    await store.keep(overflow({ text: 'later' }));
    equal((await store.find('acme', 'one'))?.text, 'later');
    const { userDid: _userDid, ...other } = overflow({ agentDid: 'did:agent:b', keptAt: 7, text: 'of another' });
    await store.keep(other);
    deepEqual(await store.find('acme', 'one'), other);
  });

  check('MOD-06 any text comes back as it was', async (store) => {
    const text = '\0 \uD800 "\\ 漢 😀 json:';
    await store.keep(overflow({ text }));
    equal((await store.find('acme', 'one'))?.text, text);
  });

  check('MOD-06 an owner keeps its newest overflows, and takes none from another', async (store) => {
    await store.keep(overflow({ invocationId: 'other agent', agentDid: 'did:agent:b', keptAt: 1 }));
    await store.keep(overflow({ invocationId: 'other tenant', tenantId: 'other', keptAt: 1 }));
    await store.keep(overflow({ invocationId: 'other user', userDid: 'did:user:v', keptAt: 1 }));
    const { userDid: _userDid, ...nobody } = overflow({ agentDid: 'did:agent:c' });
    for (const owner of [overflow(), nobody]) {
      const of = `of ${owner.agentDid}`;
      for (let at = 0; at <= OVERFLOWS_PER_OWNER_MAX; at += 1)
        await store.keep({ ...owner, invocationId: `call ${at} ${of}`, keptAt: 1000 + at });
      await store.keep({ ...owner, invocationId: `call ${OVERFLOWS_PER_OWNER_MAX} ${of}`, keptAt: 5000 });
      equal(await store.find('acme', `call 0 ${of}`), undefined);
      equal((await store.find('acme', `call 1 ${of}`))?.keptAt, 1001);
    }
    equal((await store.find('acme', 'other user'))?.invocationId, 'other user');
    equal((await store.find('acme', 'other agent'))?.invocationId, 'other agent');
    equal((await store.find('other', 'other tenant'))?.invocationId, 'other tenant');
  });

  check('MOD-06 what was kept before a time is forgotten, a limited number at once', async (store) => {
    for (const at of [10, 11, 12]) await store.keep(overflow({ invocationId: `at ${at}`, keptAt: at }));
    equal(await store.forget(10, 9), 0);
    equal(await store.forget(12, 1), 1);
    equal(await store.forget(12, 9), 1);
    equal((await store.find('acme', 'at 12'))?.keptAt, 12);
  });
}
