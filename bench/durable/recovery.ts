import { systemClock } from '@sallyport/std/clock';
import { openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import type { InvocationRecord } from '../../packages/sallyport/src/domain/invocation/record.ts';
import { recoverOpenCalls } from '../../packages/sallyport/src/pipeline/run.ts';
import { startEmbeddedPostgres } from '../../packages/sallyport/src/storage/postgres/embedded-postgres.ts';
import { openPostgres } from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

const RECORDS = 10_000;
const BATCH = 500;

/** How long an instance takes, after a crash, to settle 10 000 calls that it had begun and must not repeat. */
export async function recoveryMs(dataFolder: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const server = opened.adopt(await startEmbeddedPostgres({ dataFolder, log: silentLog }), (each) => each.close());
  const database = opened.use(await openPostgres({ connection: server.connection, log: silentLog }));
  const { ledgerStore: records } = database;
  for (let at = 0; at < RECORDS; at += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, each) => open(at + each));
    await records.append({ records: rows, events: [] }, 'asynchronous');
  }
  const ledger = opened.adopt(await openLedger({ store: records, chainId: 'bench', log: silentLog }), (each) =>
    each.close(),
  );
  const begin = performance.now();
  const settled = await recoverOpenCalls({ records, ledger, clock: systemClock }, 'bench');
  const ms = performance.now() - begin;
  if (settled !== RECORDS) throw new Error(`${settled} of ${RECORDS} were settled`);
  return ms;
}

const open = (number: number): InvocationRecord => ({
  invocationId: `call-${number}`,
  tenantId: 'bench',
  agentDid: 'did:agent:bench',
  toolId: 'bench-add-irreversible',
  toolVersion: '1.0.0',
  door: 'rest',
  sideEffect: 'irreversible',
  state: 'EXECUTING',
  instanceId: 'bench',
  warnings: [],
  acceptedAt: 1_790_000_000_000 + number,
});
