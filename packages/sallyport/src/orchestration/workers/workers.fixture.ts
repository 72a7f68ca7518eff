import { memoryCallLeaseStore } from '../../../test/stores/calls/memory-call-lease-store.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { NativeFunction } from '../../executors/native/native-executor.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createCallIntake } from '../call-intake.ts';
import type { CallLeaseStore } from '../call-lease-store.port.ts';
import type { JobQueue } from '../job-queue.port.ts';
import { memoryJobQueue } from '../job-queues/memory/memory-job-queue.ts';
import { createWorkers, WORKER_DEFAULTS, type WorkerLimits, type WorkerParts } from '../workers.ts';

/** Stores and queue that instances share. */
export interface Shared {
  readonly store: LedgerStore;
  readonly leases: CallLeaseStore;
  /** Opens the queue of one instance. */
  queue(): Promise<JobQueue>;
}

export function sharedMemory(): Shared {
  const store = memoryLedgerStore();
  return { store, leases: memoryCallLeaseStore(store), queue: async () => memoryJobQueue({ waitMs: 50 }) };
}

/** Parts for workers of calls that need no approval and that no other instance left with changes to roll back. */
export const NOBODY_BEFORE = {
  ...{ rollBackFor: async () => 0, givenApproval: async () => undefined, cancelServerTask: async () => {} },
};

export const LATER = { execution_options: { async_mode: true } } as const;

/** An instance with workers over shared stores; its `limits` are short, so that tests need not wait. */
export async function instance(
  id: string,
  shared: Shared,
  limits: Partial<WorkerLimits> = {},
  more: { readonly parts?: Partial<PipelineParts>; readonly workers?: Partial<WorkerParts> } = {},
) {
  const all = {
    ...WORKER_DEFAULTS,
    callsPerAgentMax: 4,
    leaseMs: 400,
    beatMs: 40,
    sweepMs: 60,
    sweepIdleMs: 100,
    graceMs: 200,
    ...limits,
  };
  const intake = createCallIntake(all);
  const ledger = await openLedger({ store: shared.store, chainId: id, log: silentLog });
  const made = await pipeline({ store: shared.store, ledger, instanceId: id, workers: intake, ...more.parts });
  const queue = await shared.queue();
  const workers = createWorkers({
    ...made.parts,
    ...NOBODY_BEFORE,
    records: shared.store,
    leases: shared.leases,
    queue,
    runCall: made.run,
    intake,
    limits: all,
    ...more.workers,
  });
  const run: typeof made.run = async (request, resumed) => {
    const record = await made.run(request, resumed);
    workers.noticed(record, resumed !== undefined);
    return record;
  };
  const token = await made.token();
  return {
    ...made,
    id,
    intake,
    ledger,
    limits: all,
    queue,
    workers,
    /** The pipeline as workers use it. */
    accepting: made.run,
    run,
    /** Accepts a call as if the process ended right after: the call is not offered to any worker. */
    accept: made.call,
    call: (request: Parameters<typeof made.call>[0]) =>
      run({ request: { capability_token: token, ...request }, caller: { door: 'library' } }),
    tool: (toolId: string, body: NativeFunction, changes: Parameters<typeof manifest>[1] = {}) =>
      made.add(manifest(toolId, changes), body),
    async close() {
      await workers.close();
      await ledger.close();
    },
  };
}

/** Polls until a call is over. */
export async function over({ store }: Pick<Shared, 'store'>, { tenantId, invocationId }: InvocationRecord) {
  return until(async () => {
    const record = await store.findInvocation(tenantId, invocationId);
    return record !== undefined && isFinal(record.state) ? record : undefined;
  });
}

/** Longest wait, ms: on a busy machine everything takes longer. */
const COMES_WITHIN_MS = 50_000;

/** Polls until there is a value. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const end = performance.now() + COMES_WITHIN_MS; performance.now() < end; ) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not come');
}
