import { type Clock, systemClock } from '@sallyport/std/clock';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memoryApprovalStore } from '../../../test/stores/approvals/memory-approval-store.ts';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import type { ApprovalRequest, GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { createEditJudge } from '../../pipeline/dry-run/judge-edit.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { APPROVAL_SETTINGS } from '../approval-terms.ts';
import { parseApprovalTerms } from '../approval-terms-file.ts';
import { type ApprovalParts, type Approvals, type Approver, createApprovals } from '../approvals.ts';
import type { ApprovalNotice } from '../notifier.port.ts';
import { APPROVAL_LIMITS, type ApprovalLimits, type DecidingParts } from './approvals-state.ts';

/** A clock that tests move; its monotonic time moves along unless the wall clock jumps. */
export interface MovedClock extends Clock {
  /** Lets time pass on both clocks. */
  pass(ms: number): void;
  /** Sets only the wall clock, forwards or back. */
  jump(ms: number): void;
}

export function movedClock(): MovedClock {
  let [wall, monotonic] = [systemClock.now(), 0];
  return {
    now: () => wall,
    monotonic: () => monotonic,
    pass(ms) {
      wall += ms;
      monotonic += ms;
    },
    jump(ms) {
      wall += ms;
    },
  };
}

/** A log that keeps its lines. */
export function notingLog(): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const noting =
    (level: string) =>
    (event: string, fields: object = {}) =>
      void lines.push(`${level} ${event} ${JSON.stringify(fields)}`);
  const log = { debug: noting('debug'), info: noting('info'), warn: noting('warn'), error: noting('error') };
  return { log, lines };
}

/** An approver with a token. */
export const approver = (id: string, more: Partial<Approver> = {}): Approver => ({
  tenantId: 'acme',
  id,
  names: [id],
  roles: ['approver'],
  via: 'token',
  ...more,
});

export const ALICE = approver('did:user:alice');
export const BOB = approver('did:user:bob');
export const ADMIN = approver('did:user:admin', { roles: ['admin'] });

export interface ApprovalsOptions {
  /** The file of approvals. */
  readonly terms?: string;
  readonly pipeline?: Parameters<typeof pipeline>[0];
  readonly approvals?: ApprovalChanges;
}

/** Parts of the approvals, and limits of which any may be left out. */
type ApprovalChanges = Partial<Omit<ApprovalParts, 'limits'> & DecidingParts> & {
  readonly limits?: Partial<ApprovalLimits>;
};

/** Approvals over a whole pipeline, both over the in-memory adapters, with tools that note their arguments. */
export async function approvalsOf({ terms = '', pipeline: changes = {}, approvals: more = {} }: ApprovalsOptions = {}) {
  const clock = movedClock();
  const store = memoryApprovalStore({ clock });
  const notices: ApprovalNotice[] = [];
  const opened: Approvals[] = [];
  // The pipeline asks the first approvals, which are created after it.
  const approvalQuestions: PipelineParts['approvalQuestions'] = {
    standing: (question) => opened[0]?.standing(question),
    question: (question) => (opened[0] as Approvals).question(question),
  };
  const made = await pipeline({ clock, approvalQuestions, ...changes });
  const judgeEdit = createEditJudge(made.parts);
  const resume = resumeBy(made, (done) => opened[0]?.noticed(done));
  const open = (own: ApprovalChanges = {}): Approvals => {
    const approvals = createApprovals({
      store,
      records: made.store,
      ledger: made.parts.ledger,
      clock,
      log: silentLog,
      instanceId: `instance-${opened.length + 1}`,
      terms: parseApprovalTerms(terms, 'approvals.toml', { fourEyes: true }),
      toolOf: (tenantId, toolId, version) => {
        const found = made.parts.registry.find(tenantId, toolId, version);
        return 'tool' in found ? found.tool : undefined;
      },
      notifiers: [{ name: 'test', notify: (notice) => void notices.push(notice) }],
      stillGood: () => true,
      clientReasons: APPROVAL_SETTINGS.clientReasons.default,
      ...more,
      ...own,
      limits: { ...APPROVAL_LIMITS, ...more.limits, ...own.limits },
    }).deciding({
      judgeEdit: own.judgeEdit ?? more.judgeEdit ?? judgeEdit,
      resume: own.resume ?? more.resume ?? resume,
    });
    opened.push(approvals);
    return approvals;
  };
  const approvals = open();
  const ran: Record<string, unknown>[] = [];
  const add = (tool: string, own: Partial<ToolManifest> = {}) =>
    made.add(manifest(tool, { side_effect_policy: 'irreversible', ...own }), (parameters) => {
      ran.push({ tool, ...parameters });
      return { done: parameters['n'] };
    });
  await add('send', { requires_confirmation: true, confirmation_prompt: 'Really?' });
  await add('pay', { execution_config: { requires_approval: true }, tags: ['money'] });
  await add('plain');
  /** Calls a tool, and notifies people as the layer does. */
  const ask = async (request: ToolInvokeRequest): Promise<InvocationRecord> => {
    const record = await made.call(request);
    opened[0]?.noticed(record);
    await opened[0]?.idle();
    return record;
  };
  return { ...made, clock, approvalStore: store, notices, approvals, open, ran, add, ask, resume, judgeEdit };
}

/** Runs a call that waits. Like a worker's lease, this keeps two runs of one call from happening at the same time. */
function resumeBy(
  { store, run }: Awaited<ReturnType<typeof pipeline>>,
  noticed: (record: InvocationRecord) => void,
): DecidingParts['resume'] {
  const underWay = new Set<string>();
  return async (tenantId: string, invocationId: string, approval: GivenApproval) => {
    if (underWay.has(invocationId)) return;
    underWay.add(invocationId);
    try {
      const record = await store.findInvocation(tenantId, invocationId);
      if (record?.waiting === undefined) throw new Error('the call does not wait');
      const { waiting, acceptedAt, door } = record;
      const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting, approval };
      noticed(await run({ request: waiting.request, caller: { door } }, resumed));
    } finally {
      underWay.delete(invocationId);
    }
  };
}

export type ApprovalsUnderTest = Awaited<ReturnType<typeof approvalsOf>>;

/** The question that a call waits for. */
export function questionOf({ state, waiting }: InvocationRecord): ApprovalRequest {
  if (state !== 'AUTHORIZED' || waiting?.wait.for !== 'approval') throw new Error('the call waits for no approval');
  return waiting.wait.approval;
}

/** The row of a call. */
export const rowOf = async ({ store }: ApprovalsUnderTest, { invocationId }: InvocationRecord) =>
  (await store.findInvocation('acme', invocationId)) as InvocationRecord;

/** Event types of one call, without the common prefix. */
export async function factsOf({ eventsOf }: ApprovalsUnderTest, { invocationId }: InvocationRecord) {
  const events = await eventsOf(invocationId);
  return events
    .filter(({ type }) => type.startsWith('ai.agent.approval.'))
    .map(({ type, data }) => ({ type: type.slice('ai.agent.approval.'.length), ...data }));
}

/** A time as events have it. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** A call that waits for a person, made for a user in a session unless the claims say otherwise. */
export async function askedFor(
  made: ApprovalsUnderTest,
  tool_id: string,
  claims: object = { user_did: 'did:user:u', session_id: 's' },
) {
  const capability_token = await made.token(claims);
  const record = await made.ask({ tool_id, parameters: { n: 1 }, capability_token });
  return { record, ...questionOf(record) };
}

/** Events about approvals, without what the chain adds: the events of one call, or the events that name no call. */
export async function approvalEvents({ store }: ApprovalsUnderTest, record?: InvocationRecord) {
  const events = await store.events(undefined, { limit: 1000 });
  return events
    .map(({ event }) => event)
    .filter(({ type, subject }) => type.startsWith('ai.agent.approval.') && subject === record?.invocationId)
    .map(({ id, type, time, tenantid, data }) => ({ id, type, time, tenantid, data }));
}

/** Members of every event about the approval of a call. */
export function membersAbout(
  { invocationId }: InvocationRecord,
  { approvalId, binding }: ReturnType<typeof questionOf>,
) {
  return {
    tenant_id: 'acme',
    invocation_id: invocationId,
    approval_id: approvalId,
    agent_did: 'did:agent:a',
    ...(binding.userDid === undefined ? {} : { user_did: binding.userDid }),
    tool_id: binding.toolId,
    tool_version: '1.0.0',
    content_hash: binding.contentHash,
    input_hash: binding.inputHash,
    policy_version: '1',
  };
}
