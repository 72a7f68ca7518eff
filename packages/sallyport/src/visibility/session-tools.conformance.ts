import { deepEqual } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { SessionToolStore, ToolSession } from './session-tools.port.ts';

const HOUR_MS = 3_600_000;
const owner = { tenantId: 'acme', agentDid: 'did:agent:a', userDid: 'did:user:u' };
const session: ToolSession = { owner, sessionId: 's' };

/** Sessions that are not that one, though each shares something with it. */
const OTHERS: readonly ToolSession[] = [
  { owner, sessionId: 't' },
  { owner: { ...owner, tenantId: 'globex' }, sessionId: 's' },
  { owner: { ...owner, agentDid: 'did:agent:b' }, sessionId: 's' },
  { owner: { ...owner, userDid: 'did:user:v' }, sessionId: 's' },
  { owner: { tenantId: 'acme', agentDid: 'did:agent:a' }, sessionId: 's' },
];

/** Requirements of every SessionToolStore. */
export function sessionToolStoreConformance(test: TestCase, adapter: string, open: OpenStore<SessionToolStore>): void {
  const check = casesOver(test, adapter, open);
  const listed = async (store: SessionToolStore, of: ToolSession): Promise<string[]> =>
    [...(await store.completed(of))].sort();

  check('MOD-05 what completed is known in its session, and in no other', async (store) => {
    await store.note(session, 'read', HOUR_MS);
    await store.note(session, 'list', HOUR_MS);
    await store.note(session, 'read', HOUR_MS);
    deepEqual(await listed(store, session), ['list', 'read']);
    for (const other of OTHERS) deepEqual(await listed(store, other), []);
  });

  check('MOD-05 a note ends with its time', async (store) => {
    await store.note(session, 'over', 0);
    await store.note(session, 'read', HOUR_MS);
    deepEqual(await listed(store, session), ['read']);
    await store.note(session, 'over', 0);
    deepEqual(await listed(store, session), ['read']);
    await store.note(session, 'over', HOUR_MS);
    await store.note(session, 'read', 0);
    deepEqual(await listed(store, session), ['over']);
  });
}
