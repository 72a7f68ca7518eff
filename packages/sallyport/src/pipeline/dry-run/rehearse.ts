import { randomUUID } from 'node:crypto';
import { entryOf, errorBody, type Failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DryRunResponse } from '../../../api/schemas/calls/dry-run.ts';
import type { GateDecision } from '../../domain/invocation/gate-decision.ts';
import { capabilitiesOf, type Grant } from '../../domain/invocation/grant.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { recordedDecision } from '../../permission/policy-decisions.ts';
import type { CallRequest } from '../call.ts';
import { type EndedCall, newOngoingCall, type OngoingCall } from '../ongoing/ongoing-call.ts';
import { stagesInOrder } from '../order.ts';
import type { PipelineParts } from '../parts.ts';
import { UNKNOWN_TENANT } from '../record/call-record.ts';
import { noState, throughStages } from '../run.ts';
import type { AnyStage } from '../stage.ts';
import { bounded } from '../wrappers/bounded.ts';

/** Says how a call of a known caller would end, and why (PIPE-15). */
export type RehearseCall = (request: CallRequest) => Promise<DryRunResponse>;

/** Dry runs at once; they take no slot of an agent. */
const REHEARSALS_MAX = 64;
const RETRY_MS = 250;
/** Status of the errors by which it is not known who asks. */
const UNAUTHENTICATED = 401;

type StageOutcome = DryRunResponse['stages'][number];

/**
 * Runs a call through its stages up to the one that runs the tool. Stages that take something are skipped, so nothing
 * is claimed, counted or read, and no record of an invocation is made. Policies, the gate and the hooks are asked;
 * hooks learn that it is a dry run. The dry run is audited by an event of its own kind. A rehearsal rejects with E3803
 * when too many run at once, and with E32xx when its caller is not known.
 */
export function createRehearsal(parts: PipelineParts): RehearseCall {
  const all = stagesInOrder(parts);
  const stages = all.slice(
    0,
    all.findIndex(({ begins }) => begins === 'EXECUTING'),
  );
  const toEnd = bounded(parts)(throughStages(stages));
  let underWay = 0;
  const rehearseOne: RehearseCall = async (request) => {
    const ongoing = newOngoingCall(request, parts.clock.monotonic(), true);
    const end = await toEnd(ongoing, noState);
    const { failure } = end;
    if (failure?.code === 'E3900')
      parts.log.error('dry-run-failed', { stage: end.stage, cause: String(failure.cause) });
    const response = responseOf(ongoing, outcomesOf(stages, end), failure);
    await note(parts, ongoing, response);
    // Thrown, since every door knows how to ask a caller for credentials.
    if (failure !== undefined && entryOf(failure.code).http === UNAUTHENTICATED) throw ToolLayerError.of(failure);
    return response;
  };
  return async (request) => {
    if (underWay >= REHEARSALS_MAX)
      throw new ToolLayerError('E3803', `The layer makes ${REHEARSALS_MAX} dry runs already. Try again in a moment.`, {
        retryAfterMs: RETRY_MS,
      });
    underWay += 1;
    try {
      return await rehearseOne(request);
    } finally {
      underWay -= 1;
    }
  };
}

/**
 * The outcome of each stage: stages before the refusing one passed or were skipped, stages after it were not reached.
 */
function outcomesOf(stages: readonly AnyStage[], { stage: refusing }: EndedCall): StageOutcome[] {
  const last = stages.findIndex(({ name }) => name === refusing);
  return stages.map(({ name, takes }, at) => {
    if (last >= 0 && at >= last) return { stage: name, outcome: at === last ? 'refused' : 'not_reached' };
    return takes === undefined ? { stage: name, outcome: 'passed' } : { stage: name, outcome: 'not_taken', takes };
  });
}

function responseOf(ongoing: OngoingCall, stages: StageOutcome[], refused: Failure | undefined): DryRunResponse {
  const { tool, grant, request, trust, policyDecision, gateDecision, hookVerdicts = [], warnings } = ongoing.call;
  const { phase } = request.execution_options ?? {};
  const gate = gateDecision === undefined ? undefined : gateOf(gateDecision);
  return {
    would: refused === undefined ? 'run' : refused.code === 'E3806' ? 'ask' : 'refuse',
    tool_id: request.tool_id,
    ...(tool === undefined
      ? {}
      : { tool_version: tool.manifest.version, side_effect_policy: sideEffectOf(tool.manifest) }),
    ...(phase === undefined ? {} : { phase }),
    ...(trust === undefined ? {} : { trust }),
    stages,
    ...(grant === undefined ? {} : { grant: grantOf(grant) }),
    ...(policyDecision === undefined ? {} : { policy_decision: recordedDecision(policyDecision) }),
    ...(gate === undefined ? {} : { gate_decision: gate }),
    ...(hookVerdicts.length === 0 ? {} : { hooks: hookVerdicts.map(({ id, outcome }) => ({ id, outcome })) }),
    ...(refused === undefined ? {} : { error: errorBody(refused) }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

const grantOf = (grant: Grant): NonNullable<DryRunResponse['grant']> => ({
  capabilities: capabilitiesOf(grant),
  timeout_ms: grant.limits.timeoutMs,
  cpu_millicores: grant.limits.cpuMillicores,
  memory_mb: grant.limits.memoryMb,
  output_bytes_max: grant.limits.outputBytesMax,
});

const gateOf = ({ allowed, answer, because }: GateDecision): NonNullable<DryRunResponse['gate_decision']> => ({
  allowed,
  answer,
  ...(because === undefined ? {} : { because }),
});

/** Records who asked what would be allowed; arguments stay out, as in all events. */
async function note(
  { ledger, clock, log }: Pick<PipelineParts, 'ledger' | 'clock' | 'log'>,
  { call }: OngoingCall,
  { would, error, phase, trust, policy_decision, gate_decision, hooks, tool_version }: DryRunResponse,
): Promise<void> {
  const { principal, request, inputHash } = call;
  const tenantId = principal?.tenantId ?? UNKNOWN_TENANT;
  const data = {
    tenant_id: tenantId,
    agent_did: principal?.agentDid,
    tool_id: call.tool?.manifest.tool_id ?? request.tool_id,
    tool_version,
    door: call.caller.door,
    input_hash: inputHash,
    would,
    e_code: error?.e_code,
    phase,
    claim_source: request.execution_options?.claim_source,
    trust,
    policy_decision,
    adversarial_policy_decision: gate_decision,
    hooks,
  };
  const event = { id: randomUUID(), type: 'ai.agent.tool.dry_run' as const, time: clock.now(), tenantId, data };
  try {
    await ledger.commit({ events: [event], durability: 'asynchronous' });
  } catch (thrown) {
    // Nothing ran that would have to be on record, so the answer is given without it.
    log.warn('dry-run-not-recorded', { e_code: failureOf(thrown).code });
  }
}
