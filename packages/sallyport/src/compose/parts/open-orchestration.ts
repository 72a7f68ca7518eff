import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { valuesOf } from '../../domain/settings/setting.ts';
import { type ApprovalOffice, createApprovalDesk } from '../../orchestration/approval-desk.ts';
import { APPROVAL_SETTINGS } from '../../orchestration/approval-terms.ts';
import { readApprovalTerms } from '../../orchestration/approval-terms-file.ts';
import {
  type ClientConfirmations,
  createClientConfirmations,
} from '../../orchestration/approvals/client-confirmations.ts';
import { DESK_SETTINGS } from '../../orchestration/approvals/desk-state.ts';
import { type CallIntake, createCallIntake } from '../../orchestration/call-intake.ts';
import type { JobQueue } from '../../orchestration/job-queue.port.ts';
import { openBullmqJobQueue } from '../../orchestration/job-queues/bullmq/bullmq-job-queue.ts';
import { memoryJobQueue } from '../../orchestration/job-queues/memory/memory-job-queue.ts';
import type { Notifier } from '../../orchestration/notifier.port.ts';
import { undoByCall } from '../../orchestration/side-effects/undo-by-call.ts';
import {
  createWorkers,
  WORKER_DEFAULTS,
  WORKER_SETTINGS,
  type WorkerLimits,
  type WorkerParts,
  type Workers,
} from '../../orchestration/workers.ts';
import { createEditJudge } from '../../pipeline/dry-run/judge-edit.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import { continueRollbacks, createPipeline, type RunCall } from '../../pipeline/run.ts';
import { poolTarget } from '../../storage/postgres/postgres-connection.ts';
import type { Settings } from '../settings.ts';
import type { Ingredients } from './ingredients.ts';
import type { openFoundation } from './open-foundation.ts';

type Foundation = Pick<Awaited<ReturnType<typeof openFoundation>>, 'storage' | 'identity' | 'instanceId' | 'ledger'>;

/** What calls that wait are looked after with. */
export interface OrchestrationParts extends Foundation {
  readonly from: Ingredients;
  readonly intake: CallIntake | undefined;
  readonly notifiers: readonly Notifier[];
  /** Everything of the pipeline but the desk, which is made here. */
  readonly pipeline: PipelineParts;
}

/** What runs calls later, and where they wait for a person. */
export interface Orchestration {
  readonly pipeline: PipelineParts;
  readonly runCall: RunCall;
  readonly desk: ApprovalOffice;
  readonly workers: Workers | undefined;
  /** Where the user at an MCP client confirms; absent without workers, who would run what is confirmed. */
  readonly confirmations: ClientConfirmations | undefined;
  /** Begins to look after what waits: once the tools are known. */
  start(): Promise<void>;
}

/** How many calls may wait; the pipeline asks it before it accepts one. Undefined where no call may be asynchronous. */
export function openIntake(settings: Settings): CallIntake | undefined {
  return settings['workers.enabled'] ? createCallIntake(workerLimitsOf(settings)) : undefined;
}

/**
 * Makes desk and workers around the pipeline. Without workers a call that got its yes has nobody to run it, so then there
 * is no desk in the pipeline either, and calls that need a person are refused.
 * @throws ToolLayerError E3801 for a file of approvals with faults; E3812 when the queue cannot be opened
 */
export async function openOrchestration(
  opened: AsyncDisposableStack,
  parts: OrchestrationParts,
): Promise<Orchestration> {
  const later: { run?: RunCall; workers?: Workers; pipeline?: PipelineParts } = {};
  const desk = opened.use(await openDesk(parts, later));
  const pipeline: PipelineParts = {
    ...parts.pipeline,
    ...takingBack(parts, later),
    ...(parts.intake === undefined ? {} : { approvals: desk }),
  };
  later.pipeline = pipeline;
  const run = createPipeline(pipeline);
  const told: RunCall = async (request, resumed) => {
    const record = await run(request, resumed);
    desk.noticed(record);
    return record;
  };
  const ofWorkers = { ...parts, pipeline };
  const workers =
    parts.intake === undefined ? undefined : await openWorkers(opened, ofWorkers, parts.intake, told, desk);
  if (workers !== undefined) later.workers = workers;
  const runCall = workers === undefined ? told : workers.handingOver(told);
  later.run = runCall;
  return {
    pipeline,
    desk,
    workers,
    runCall,
    confirmations:
      workers === undefined
        ? undefined
        : createClientConfirmations({ desk, shownArguments: shownBy(parts.from.redactor) }),
    async start() {
      await workers?.start();
      await desk.start();
    },
  };
}

/** Transactions that can be taken back by calls too: these run through the very pipeline that stands on them. */
function takingBack(
  { pipeline: { transactions, records, outcomes } }: OrchestrationParts,
  later: { readonly run?: RunCall },
): Pick<PipelineParts, 'transactions'> {
  if (transactions === undefined) return {};
  const runCall: RunCall = (request, resumed) => {
    if (later.run === undefined) throw new Error('nothing runs before the pipeline stands');
    return later.run(request, resumed);
  };
  const call = undoByCall({ runCall, records, ...(outcomes === undefined ? {} : { outcomes }) });
  return { transactions: { ...transactions, undoers: { ...transactions.undoers, call } } };
}

async function openDesk(
  { from, storage, identity, instanceId, ledger, notifiers, pipeline }: OrchestrationParts,
  later: { readonly workers?: Workers; readonly pipeline?: PipelineParts },
): Promise<ApprovalOffice> {
  const { settings, clock, log, redactor } = from;
  const file = settings['approvals.file'] || join(settings['data_folder'], 'approvals.toml');
  const { fourEyes, clientReasons } = valuesOf(APPROVAL_SETTINGS, settings);
  const terms = await readApprovalTerms(file, { fourEyes });
  const { registry } = pipeline;
  const owners = (tenantId: string): readonly string[] => [tenantId, settings['tenant.catalog']];
  return createApprovalDesk({
    store: storage.database.approvalStore,
    records: storage.database.ledgerStore,
    ledger,
    clock,
    log,
    instanceId,
    terms,
    notifiers,
    toolOf(tenantId, toolId, version) {
      for (const owner of owners(tenantId)) {
        const found = registry.find(owner, toolId, version);
        if (!isFailure(found)) return found.tool;
      }
      return undefined;
    },
    judgeEdit: (record, parameters) => createEditJudge(later.pipeline ?? pipeline)(record, parameters),
    resume: (tenantId, invocationId, approval) =>
      later.workers?.enqueue(tenantId, invocationId, approval) ?? Promise.resolve(),
    clientReasons,
    stillGood: (claims) => !identity.wasRevoked(claims),
    ...(settings['approvals.show_arguments'] ? { shownArguments: shownBy(redactor) } : {}),
    limits: valuesOf(DESK_SETTINGS, settings),
  });
}

/** Arguments as people are shown them. */
const shownBy =
  (redactor: Ingredients['redactor']) =>
  (parameters: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(redactor.value(parameters).value);

async function openWorkers(
  opened: AsyncDisposableStack,
  { from, storage, instanceId, ledger, pipeline }: OrchestrationParts,
  intake: CallIntake,
  runCall: RunCall,
  desk: ApprovalOffice,
): Promise<Workers> {
  const { settings, clock, log } = from;
  const queue = await openQueue(from, storage);
  opened.defer(() => queue.close());
  const workers = createWorkers({
    clock,
    log,
    instanceId,
    records: storage.database.ledgerStore,
    ledger,
    running: pipeline.running,
    leases: storage.database.callLeaseStore,
    queue,
    runCall,
    intake,
    limits: workerLimitsOf(settings),
    ...rollingBack(pipeline),
    givenApproval: (record) => desk.yesOf(record),
  });
  opened.defer(() => workers.close());
  return workers;
}

/** What an instance that is gone left half changed is taken back by another. */
function rollingBack(pipeline: PipelineParts): Pick<WorkerParts, 'rollBackFor'> {
  const { transactions, outcomes } = pipeline;
  if (transactions === undefined) return {};
  const parts = { ...pipeline, transactions, ...(outcomes === undefined ? {} : { outcomes }) };
  return { rollBackFor: async (instanceId) => (await continueRollbacks(parts, instanceId, 'gone')).rolledBack };
}

/** A database of one's own may serve several instances; the embedded one serves this process only. */
function openQueue({ settings, log }: Ingredients, { connection, embedded }: Foundation['storage']): Promise<JobQueue> {
  const wanted = settings['workers.queue'];
  const shared = wanted === 'postgres' || (wanted === 'auto' && embedded === undefined);
  return shared ? openBullmqJobQueue({ connection: poolTarget(connection), log }) : Promise.resolve(memoryJobQueue());
}

const workerLimitsOf = (settings: Settings): WorkerLimits => ({
  ...WORKER_DEFAULTS,
  ...valuesOf(WORKER_SETTINGS, settings),
});
