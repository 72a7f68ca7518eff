import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import type { HookedCall } from '../../../hooks/hook.ts';
import type { HookSubject } from '../../../hooks/run-hooks.ts';
import type { Admitted, Authorized, CallRequest, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';

/** What must be established of a call before a hook sees it. */
export type Hookable = CallRequest & Admitted & Resolved & Validated & Authorized;

/** The properties of a call that select its hooks. */
export function subjectOf({ request, tool: { manifest } }: CallRequest & Resolved): HookSubject {
  return {
    toolId: manifest.tool_id,
    sideEffect: sideEffectOf(manifest),
    phase: request.execution_options?.phase,
  };
}

/** The call as a hook sees it. */
export function hookedCall(call: Hookable, { rehearsal }: OngoingCall): HookedCall {
  const { request, principal, tool, trust, parameters, invocationId } = call;
  const { phase, claim_source, environment } = request.execution_options ?? {};
  return {
    invocationId,
    dryRun: rehearsal,
    tenantId: principal.tenantId,
    agentDid: principal.agentDid,
    ...(principal.userDid === undefined ? {} : { userDid: principal.userDid }),
    ...(principal.sessionId === undefined ? {} : { sessionId: principal.sessionId }),
    toolId: tool.manifest.tool_id,
    toolVersion: tool.manifest.version,
    sideEffect: sideEffectOf(tool.manifest),
    ...(phase === undefined ? {} : { phase }),
    ...(claim_source === undefined ? {} : { claimSource: claim_source }),
    trust,
    arguments: parameters,
    ...(environment === undefined ? {} : { environment }),
  };
}
