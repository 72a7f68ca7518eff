import { join } from 'node:path';
import { valuesOf } from '../../domain/settings/setting.ts';
import type { Upstreams } from '../../mcp-servers/upstreams.ts';
import { APPROVAL_SETTINGS } from '../../orchestration/approval-terms.ts';
import { readApprovalTerms } from '../../orchestration/approval-terms-file.ts';
import { APPROVAL_LIMIT_SETTINGS, APPROVAL_LIMITS } from '../../orchestration/approvals/approvals-state.ts';
import {
  type ClientConfirmations,
  createClientConfirmations,
} from '../../orchestration/approvals/client-confirmations.ts';
import {
  type ApprovalParts,
  type Approvals,
  type AskableApprovals,
  createApprovals,
} from '../../orchestration/approvals.ts';
import { type CallIntake, createCallIntake } from '../../orchestration/call-intake.ts';
import type { JobQueue } from '../../orchestration/job-queue.port.ts';
import { openBullmqJobQueue } from '../../orchestration/job-queues/bullmq/bullmq-job-queue.ts';
import { memoryJobQueue } from '../../orchestration/job-queues/memory/memory-job-queue.ts';
import type { Notifier } from '../../orchestration/notifier.port.ts';
import { type CallQuestions, createCallQuestions } from '../../orchestration/workers/running/call-questions.ts';
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
import { toolsOfTenants } from '../../registry/registry.ts';
import { poolTarget } from '../../storage/postgres/postgres-connection.ts';
import type { Settings } from '../settings.ts';
import type { Ingredients } from './ingredients.ts';
import type { openFoundation } from './open-foundation.ts';

type Foundation = Pick<Awaited<ReturnType<typeof openFoundation>>, 'storage' | 'identity' | 'instanceId' | 'ledger'>;

/** Dependencies of the orchestration of waiting calls. */
export interface OrchestrationParts extends Foundation {
  readonly from: Ingredients;
  readonly intake: CallIntake | undefined;
  readonly notifiers: readonly Notifier[];
  /** All parts of the pipeline but the approvals, which are created here. */
  readonly pipeline: PipelineParts;
  readonly upstreams: Pick<Upstreams, 'cancelTask'>;
}

/** The workers, and the approvals of waiting calls. */
export interface Orchestration {
  readonly pipeline: PipelineParts;
  readonly runCall: RunCall;
  readonly approvals: Approvals;
  readonly workers: Workers | undefined;
  /** Confirmations by the user at an MCP client; absent without workers, since nobody would run a confirmed call. */
  readonly confirmations: ClientConfirmations | undefined;
  /** Questions of calls that run as tasks; absent without workers. */
  readonly callQuestions: CallQuestions | undefined;
  /** Starts workers and approvals; called once the tools are loaded. */
  start(): Promise<void>;
}

/**
 * The intake, which limits waiting calls; the pipeline asks it before it accepts one. Undefined when no call may be
 * asynchronous.
 */
export function openIntake(settings: Settings): CallIntake | undefined {
  return settings['workers.enabled'] ? createCallIntake(workerLimitsOf(settings)) : undefined;
}

/**
 * Creates approvals and workers around the pipeline. Without workers nothing would run an approved call, so the
 * pipeline then asks nobody, and refuses calls that need a person.
 * @throws ToolLayerError E3801 for a file of approvals with faults; E3812 when the queue cannot be opened
 */
export async function openOrchestration(
  opened: AsyncDisposableStack,
  parts: OrchestrationParts,
): Promise<Orchestration> {
  const asking = createApprovals(await approvalParts(parts));
  const { run: runCall, parts: pipeline } = createPipeline({
    ...parts.pipeline,
    ...(parts.intake === undefined ? {} : { approvalQuestions: asking }),
  });
  const ofWorkers = { ...parts, pipeline };
  const workers =
    parts.intake === undefined ? undefined : await openWorkers(opened, ofWorkers, parts.intake, runCall, asking);
  const approvals = opened.use(
    asking.deciding({
      judgeEdit: createEditJudge(pipeline),
      resume: async (tenantId, invocationId, approval) => workers?.enqueue(tenantId, invocationId, approval),
    }),
  );
  // Closed before the approvals, since calls that run to their end still notify people.
  if (workers !== undefined) opened.defer(() => workers.close());
  pipeline.running.onRecord(approvals.noticed);
  if (workers !== undefined) pipeline.running.onRecord(workers.noticed);
  return {
    pipeline,
    approvals,
    workers,
    runCall,
    confirmations:
      workers === undefined
        ? undefined
        : createClientConfirmations({ approvals, shownArguments: shownBy(parts.from.redactor) }),
    callQuestions:
      workers === undefined
        ? undefined
        : createCallQuestions({ running: pipeline.running, leases: parts.storage.database.callLeaseStore }),
    async start() {
      await workers?.start();
      await approvals.start();
    },
  };
}

async function approvalParts({
  from,
  storage,
  identity,
  instanceId,
  ledger,
  notifiers,
  pipeline: { registry },
}: OrchestrationParts): Promise<ApprovalParts> {
  const { settings, log, redactor } = from;
  const file = settings['approvals.file'] || join(settings['data_folder'], 'approvals.toml');
  const { fourEyes, clientReasons } = valuesOf(APPROVAL_SETTINGS, settings);
  const terms = await readApprovalTerms(file, { fourEyes });
  return {
    store: storage.database.approvalStore,
    records: storage.database.ledgerStore,
    ledger,
    clock: storage.clock,
    log,
    instanceId,
    terms,
    notifiers,
    toolOf: toolsOfTenants(registry, settings['tenant.catalog']),
    clientReasons,
    stillGood: (claims) => !identity.wasRevoked(claims),
    ...(settings['approvals.show_arguments'] ? { shownArguments: shownBy(redactor) } : {}),
    limits: { ...APPROVAL_LIMITS, ...valuesOf(APPROVAL_LIMIT_SETTINGS, settings) },
  };
}

/** Arguments as they are shown to people. */
const shownBy =
  (redactor: Ingredients['redactor']) =>
  (parameters: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(redactor.value(parameters).value);

async function openWorkers(
  opened: AsyncDisposableStack,
  { from, storage, instanceId, ledger, pipeline, upstreams }: OrchestrationParts,
  intake: CallIntake,
  runCall: RunCall,
  { givenApproval }: AskableApprovals,
): Promise<Workers> {
  const { settings, clock, log } = from;
  const queue = await openQueue(from, storage);
  opened.defer(() => queue.close());
  return createWorkers({
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
    // Half-made changes of an instance that is gone.
    rollBackFor: async (gone) => (await continueRollbacks(pipeline, gone, 'gone')).rolledBack,
    givenApproval,
    cancelServerTask: cancelServerTasks(upstreams, toolsOfTenants(pipeline.registry, settings['tenant.catalog'])),
  });
}

/** Longest time that the cancel of a task may take, in ms. */
const CANCEL_MS = 2_000;

/**
 * Cancels tasks of calls that wait on record. An upstream with a connection for each caller has none for the layer
 * itself: its task runs on.
 */
export function cancelServerTasks(
  upstreams: Pick<Upstreams, 'cancelTask'>,
  toolOf: ReturnType<typeof toolsOfTenants>,
): WorkerParts['cancelServerTask'] {
  return async ({ tenantId, invocationId, toolId, toolVersion }, task) => {
    const upstream = toolOf(tenantId, toolId, toolVersion)?.manifest.executor.config?.['upstream'];
    if (typeof upstream !== 'string') return;
    const options = { invocationId, signal: AbortSignal.timeout(CANCEL_MS) };
    await upstreams.cancelTask(tenantId, upstream, task, options).catch(() => undefined);
  };
}

/** The user's own database may serve several instances; the embedded one serves only this process. */
export function openQueue(
  { settings, log }: Pick<Ingredients, 'settings' | 'log'>,
  { connection, embedded }: Pick<Foundation['storage'], 'connection' | 'embedded'>,
): Promise<JobQueue> {
  const wanted = settings['workers.queue'];
  const shared = wanted === 'postgres' || (wanted === 'auto' && embedded === undefined);
  return shared ? openBullmqJobQueue({ connection: poolTarget(connection), log }) : Promise.resolve(memoryJobQueue());
}

const workerLimitsOf = (settings: Settings): WorkerLimits => ({
  ...WORKER_DEFAULTS,
  ...valuesOf(WORKER_SETTINGS, settings),
});
