import { type Kysely, type Selectable, sql } from 'kysely';
import type { Pool } from 'pg';
import type { ChainCheckpoint, LedgerStore } from '../../../audit/ledger-store.port.ts';
import { columnsOf } from '../calls/call-columns.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { appendLedger } from './append.ts';
import { findRecords } from './find-records.ts';
import { forgetResults } from './forget-results.ts';
import { listCalls } from './list-calls.ts';
import { callReaders } from './read-calls.ts';
import { readChain, readChainHead, readEvents } from './read-events.ts';
import type { StatementSender } from './statement-sender.ts';
import { fenceRow, readWaiting } from './waiting.ts';

/** The ledger in PostgreSQL. Appends go through the sender, everything else through the query builder. */
export function postgresLedgerStore(sender: StatementSender, pool: Pool, database: Kysely<Tables>): LedgerStore {
  const find = findRecords(pool);
  return {
    append: (batch, durability) => inDatabase('write the record', () => appendLedger(sender, batch, durability)),
    findInvocation: (tenantId, invocationId) =>
      inDatabase('read the record', () => find(columnsOf({ tenantId, invocationId }))),
    openInvocations: (instanceId) =>
      inDatabase('read the open records', async () => {
        const rows = await database
          .selectFrom('sallyport.tool_invocations')
          .select('record')
          .where('instance_id', '=', keyText(instanceId))
          // Worded like the partial index, so that it is used.
          .where((is) => is.not(is.ref('is_final')))
          .orderBy('accepted_at')
          .execute();
        return rows.map(({ record }) => record);
      }),
    waitingCalls: (query) => inDatabase('list the waiting calls', () => readWaiting(database, query)),
    calls: (query) => inDatabase('list the calls', () => listCalls(database, query)),
    fenceInvocation: (tenantId, invocationId, fence) =>
      inDatabase('fence the record', () => fenceRow(database, tenantId, invocationId, fence)),
    forgetResults: (query) => inDatabase('forget old results', () => forgetResults(database, query)),
    events: (tenantId, query) => inDatabase('read the events', () => readEvents(database, tenantId, query)),
    ...callReaders(pool, database),
    ...chainReaders(database),
    ...sinkPositions(database),
  };
}

type ChainReaders = Pick<
  LedgerStore,
  'chainHead' | 'chainIds' | 'chainEvents' | 'addCheckpoint' | 'checkpoints' | 'newestCheckpoint'
>;

function chainReaders(database: Kysely<Tables>): ChainReaders {
  return {
    chainHead: (chainId) => inDatabase('read the head of the chain', () => readChainHead(database, chainId)),
    chainIds: () => inDatabase('list the chains', () => readChainIds(database)),
    chainEvents: (chainId, afterSeq, limit) =>
      inDatabase('read the chain', () => readChain(database, chainId, afterSeq, limit)),
    addCheckpoint: ({ chainId, keyId, ...checkpoint }) =>
      inDatabase('keep the checkpoint', async () => {
        const row = { ...checkpoint, chain_id: keyText(chainId), key_id: keyText(keyId) };
        await database
          .insertInto('sallyport.audit_checkpoints')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
    checkpoints: (chainId) =>
      inDatabase('read the checkpoints', async () => {
        const rows = await checkpointRows(database, chainId).orderBy('seq').execute();
        return rows.map(checkpointOf);
      }),
    newestCheckpoint: (chainId) =>
      inDatabase('read the newest checkpoint', async () => {
        const row = await checkpointRows(database, chainId).orderBy('seq', 'desc').limit(1).executeTakeFirst();
        return row && checkpointOf(row);
      }),
  };
}

/** Skips from one chain to the next in the index: chains are few and events many. */
async function readChainIds(database: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ chain_id: string }>`
with recursive chains as (
  (select chain_id from sallyport.audit_events order by chain_id limit 1)
  union all
  select (select min(chain_id) from sallyport.audit_events as events where events.chain_id > chains.chain_id)
  from chains where chain_id is not null
)
select chain_id from chains where chain_id is not null`.execute(database);
  return rows.map(({ chain_id }) => keyOfText(chain_id));
}

const checkpointRows = (database: Kysely<Tables>, chainId: string) =>
  database.selectFrom('sallyport.audit_checkpoints').selectAll().where('chain_id', '=', keyText(chainId));

const checkpointOf = ({
  chain_id,
  key_id,
  seq,
  ...checkpoint
}: Selectable<Tables['sallyport.audit_checkpoints']>): ChainCheckpoint => ({
  chainId: keyOfText(chain_id),
  seq: Number(seq),
  ...checkpoint,
  keyId: keyOfText(key_id),
});

function sinkPositions(database: Kysely<Tables>): Pick<LedgerStore, 'sinkPosition' | 'setSinkPosition'> {
  const table = 'sallyport.sink_positions';
  return {
    sinkPosition: (sink) =>
      inDatabase('read the position of the sink', async () => {
        const selection = database.selectFrom(table).select('position').where('sink', '=', keyText(sink));
        return Number((await selection.executeTakeFirst())?.position ?? 0);
      }),
    setSinkPosition: (sink, position) =>
      inDatabase('keep the position of the sink', async () => {
        await database
          .insertInto(table)
          .values({ sink: keyText(sink), position })
          .onConflict((conflict) => conflict.column('sink').doUpdateSet({ position }))
          .execute();
      }),
  };
}
