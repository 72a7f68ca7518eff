import { Kysely, PostgresDialect } from 'kysely';
import { Client, Pool } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { postgresApprovalStore } from '../../src/storage/postgres/approvals/postgres-approval-store.ts';
import { postgresSessionToolStore } from '../../src/storage/postgres/calls/postgres-session-tool-store.ts';
import { postgresSlotStore } from '../../src/storage/postgres/calls/postgres-slot-store.ts';
import { postgresUnrecordedEvents } from '../../src/storage/postgres/ledger/unrecorded-events.ts';
import { postgresCheckpointArchive } from '../../src/storage/postgres/outcomes/postgres-checkpoint-archive.ts';
import { postgresCheckpointStore } from '../../src/storage/postgres/outcomes/postgres-checkpoint-store.ts';
import { postgresDailyLease } from '../../src/storage/postgres/outcomes/postgres-daily-lease.ts';
import { postgresDocumentPins } from '../../src/storage/postgres/outcomes/postgres-document-pins.ts';
import { postgresOutcomeStore } from '../../src/storage/postgres/outcomes/postgres-outcome-store.ts';
import { postgresOutputStore } from '../../src/storage/postgres/outcomes/postgres-output-store.ts';
import { postgresOverflowStore } from '../../src/storage/postgres/outcomes/postgres-overflow-store.ts';
import { postgresStateStore } from '../../src/storage/postgres/outcomes/postgres-state-store.ts';
import { postgresThreadStore } from '../../src/storage/postgres/outcomes/postgres-thread-store.ts';
import { postgresUndoJournal } from '../../src/storage/postgres/outcomes/postgres-undo-journal.ts';
import { postgresContextStore } from '../../src/storage/postgres/reference-servers/postgres-context-store.ts';
import { postgresDocumentStore } from '../../src/storage/postgres/reference-servers/postgres-document-store.ts';
import { postgresApiKeyStore } from '../../src/storage/postgres/rights/postgres-api-key-store.ts';
import { postgresProofIds } from '../../src/storage/postgres/rights/postgres-proof-ids.ts';
import { postgresRevocationStore } from '../../src/storage/postgres/rights/postgres-revocation-store.ts';
import type { Tables } from '../../src/storage/postgres/schema/tables.ts';
import { postgresAuthorizationStore } from '../../src/storage/postgres/tools/postgres-authorization-store.ts';
import { postgresQuarantineStore } from '../../src/storage/postgres/tools/postgres-quarantine-store.ts';
import { postgresSkillContents } from '../../src/storage/postgres/tools/postgres-skill-contents.ts';
import { postgresToolStore } from '../../src/storage/postgres/tools/postgres-tool-store.ts';
import { postgresUpstreamStore } from '../../src/storage/postgres/tools/postgres-upstream-store.ts';
import { postgresVectorStore } from '../../src/storage/postgres/tools/postgres-vector-store.ts';
import { postgresVisibilityStore } from '../../src/storage/postgres/tools/postgres-visibility-store.ts';
import { silentLog } from '../../src/telemetry/log.ts';

const AWAY = { host: '/nowhere', user: 'u', database: 'd' };
const pool = new Pool(AWAY);
const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
afterAll(() => pool.end());

/** Every member that a store reads before it asks the database, whatever it is given. */
const it = {
  ...{ id: 'i', tenantId: 't', ownerId: 'o', invocationId: 'c', instanceId: 'n', approvalId: 'a', approver: 'p' },
  ...{ toolId: 'x', version: '1', name: 'n', agentDid: 'd', subject: 's', upstream: 'u', tool: 'x', part: 'p' },
  ...{ votedAt: 1, closedAt: 1, madeAt: 1, until: 1, expiresAt: 1, at: 1, level: 0, position: 0, createdAt: 1 },
  ...{ lineId: 'l', checkpointId: 'c', documentId: 'd', taskId: 't', threadId: 't', namespace: '', fence: 1 },
  ...{ inputHash: 'ff', contentHash: 'h', hash: 'h', toolPath: 'p', index: 0, channel: 'c', sessionId: 's' },
  ...{ kind: 'agent', revokedAt: 1, revokedBy: 'p', createdBy: 'p', type: 'named', text: 't', keptAt: 1, key: 'k' },
  ...{ owner: { tenantId: 't', agentDid: 'd' }, by: { tenantId: 't', invocationId: 'c', fence: 1 }, atMs: 1 },
  ...{ hashes: [1], tags: [], versions: {}, values: [], limit: 1, settled: true, taskPath: 'p', registeredAt: 't' },
  ...{ value: { type: 'json', bytes: Buffer.alloc(0) }, state: { type: 'json', bytes: Buffer.alloc(0) } },
  ...{ metadata: { type: 'json', bytes: Buffer.alloc(0) }, vector: new Float32Array(1), definition: { name: 'n' } },
  manifest: { tool_id: 'x', version: '1', tool_name: 'X', description: 'd', executor: { kind: 'native' } },
};
const move = { key: it, expected: 'active', lifecycle: { state: 'removed' } };
const write = { key: it, by: it.by, valuesMax: 1 };
const packed = { form: 'plain', bytes: Buffer.alloc(1), size: 1, sha256: 'h' };
const { owner } = it;

/** Arguments of the methods of each store, in the order of its methods. */
const STORES: readonly (readonly [name: string, store: object, given: Readonly<Record<string, readonly unknown[]>>])[] =
  [
    [
      'approvals',
      postgresApprovalStore(database),
      {
        ...{
          vote: [it],
          votes: ['t', 'a'],
          close: [it],
          closing: ['t', 'a'],
          closings: ['t', 1, 0],
          unfinished: [1, 1],
        },
        ...{ claim: ['t', 'a', 'h', 1], release: ['t', 'a', 'h'], releaseAll: ['h'], mark: ['t', 'a', 'noted'] },
        ...{ claimNotice: [it, 1], noticeDelivered: ['t', 'a', 0], invocationOf: ['t', 'a'], addDelegation: [it] },
        ...{
          endDelegation: ['t', 'd'],
          delegations: ['t', 1],
          addRule: [it],
          revokeRule: ['t', 'r'],
          changedRules: [0],
        },
        ...{ addLink: [it], link: ['h'], useLink: ['h'], freeLink: ['h'], prune: [1] },
      },
    ],
    ['tools of sessions', postgresSessionToolStore(pool), { note: [it, 'x', 1], completed: [it] }],
    [
      'checkpoints',
      postgresCheckpointStore(pool),
      {
        ...{ line: ['t', 'l'], lineOf: ['t', 'c'], take: ['t', 'l', 'a', 'b'], put: [it], find: ['t', 'c'] },
        ...{ ancestors: ['t', 'c', 1], list: ['t', 'l', 1], remove: ['t', 'c'], keepUntil: ['t', 'c', 1] },
        ...{ removeAfterChanges: ['t', 'c'], lineEnded: ['t', 'l'], expire: [1, 1], forgetLines: [1, 1] },
        ...{ unreported: ['r', 1], reported: ['t', 'l', 1] },
      },
    ],
    [
      'archive',
      postgresCheckpointArchive(pool),
      { announce: [it, 1], unused: [1], removed: [it], due: [1, 0], move: ['t', 'c', packed, {}] },
    ],
    ['daily lease', postgresDailyLease(pool), { take: ['w', 1, 'h', 1], done: ['w', 1, 'h'] }],
    ['pins', postgresDocumentPins(pool), { put: ['t', 'c', []], find: ['t', 'c'], forget: [1, 1] }],
    [
      'outcomes',
      postgresOutcomeStore(database),
      { list: [it], find: ['t', 'c'], findAll: ['t', ['c']], forgetResults: [1, 1], settle: [it] },
    ],
    ['unrecorded events', postgresUnrecordedEvents(pool), { remove: [['e']], recordLeft: [1, async () => {}] }],
    ['outputs', postgresOutputStore(pool), { remember: [it, it], forget: [1, 1] }],
    ['overflows', postgresOverflowStore(pool), { keep: [it], find: ['t', 'c'], forget: [1, 1] }],
    ['values', postgresStateStore(pool), { read: [it], write: [write], keep: [it], discard: [it] }],
    [
      'threads',
      postgresThreadStore(pool),
      {
        ...{ put: [owner, it], write: [owner, it, [it]], list: [owner, it] },
        ...{ used: [owner, 't'], remove: [owner, 't'], forget: [1, 1] },
      },
    ],
    [
      'undo journal',
      postgresUndoJournal(pool),
      { add: [it], markUndone: ['t', 'c', 0], close: ['t', 'c'], find: ['t', 'c'], open: ['n', 1] },
    ],
    [
      'contexts',
      postgresContextStore(pool),
      {
        ...{ put: [owner, it, {}], newest: [owner, 't'], version: [owner, 't', 1], versions: [owner, 't', 1] },
        ...{ addCheckpoint: [owner, it, {}], checkpoints: [owner, 't', 1], checkpoint: [owner, 't', 'c'] },
        ...{ forget: [1, 1], forgetOldest: [owner] },
      },
    ],
    [
      'documents',
      postgresDocumentStore(pool),
      {
        ...{ matching: ['t', '*', {}, 1], withWords: ['t', 'w', {}, 1], sharing: ['t', it, 1], put: ['t', it, {}] },
        ...{ find: ['t', ['d']], read: ['t', [it]], sizes: ['t', [it]], deprecate: ['t', 'd', {}] },
        ...{ delete: ['t', 'd', 1], passages: ['t', '', 1], passagesOf: ['t', ['d']] },
      },
    ],
    [
      'API keys',
      postgresApiKeyStore(database),
      { insert: [it], revoke: ['t', 'i', 1], changedSince: [0], list: ['t'], noteUses: [[it]], prune: [1] },
    ],
    ['proofs', postgresProofIds(pool), { take: ['h', 1] }],
    [
      'revocations',
      postgresRevocationStore(database),
      { put: [it], lift: ['t', 'i'], changedSince: [0], list: ['t', 1, 0], prune: [1, 1] },
    ],
    [
      'contents of skills',
      postgresSkillContents(database),
      { put: ['t', new Map([['ff', Buffer.alloc(1)]])], get: ['t', 'f'.repeat(64)], sweep: ['t', new Set(), 1] },
    ],
    [
      'tool versions',
      postgresToolStore(database),
      {
        ...{ insertAll: [[it]], insert: [it], changedSince: [0], changeStates: [[move]], markRecorded: [[it]] },
        ...{ unrecorded: [1], noteUses: [[it]], lastUses: ['t', 'x'] },
      },
    ],
    ['vectors', postgresVectorStore(pool), { get: ['m', 1, ['h']], put: ['m', [it]], prune: [1] }],
    [
      'visibility',
      postgresVisibilityStore(database),
      { revision: [], put: [it], remove: ['t', 'agent', 'k'], loadAll: [] },
    ],
    [
      'logins at upstreams',
      postgresAuthorizationStore(database),
      { read: [it], revisions: [[it]], replace: [it, 't', 1], claim: [it, 1, 1], remove: ['t', 'u'] },
    ],
    [
      'tools of upstreams',
      postgresQuarantineStore(database),
      { putAll: [[it]], removeUpstream: ['t', 'u'], load: [], prints: [] },
    ],
    [
      'upstreams',
      postgresUpstreamStore(database),
      { put: [it], remove: ['t', 'u'], find: ['t', 'u'], loadAll: [], prints: [] },
    ],
  ];

test.each(STORES)(
  'PIPE-04 no method of %s says that all went well while the database is away',
  async (_name, store, given) => {
    expect(Object.keys(store).toSorted()).toEqual(Object.keys(given).toSorted());
    const methods = store as Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>;
    for (const [name, args] of Object.entries(given)) {
      await expect(methods[name]?.(...args), name).rejects.toMatchObject({
        code: 'E3812',
        message: expect.stringContaining('cannot be reached'),
        cause: { code: 'ENOENT' },
      });
    }
  },
);

test('PIPE-08 no slot is counted while the database is away', async () => {
  const slots = postgresSlotStore({ pool, connect: () => new Client(AWAY), log: silentLog });
  const use = { agentHash: 'h', max: 1, running: 0, waiting: 0, waitedMs: 0 };
  for (const asked of [slots.renew('o', 1), slots.share('o', use), slots.release('o', ['h']), slots.leave('o')])
    await expect(asked).rejects.toMatchObject({ code: 'E3812', cause: { code: 'ENOENT' } });
});
