import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import type { HookedCall } from '../../../hooks/hook.ts';
import type { HookSubject } from '../../../hooks/run-hooks.ts';
import type { Admitted, Authorized, CallRequest, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';

/** What has to be known of a call before a hook is told of it. */
export type Hookable = CallRequest & Admitted & Resolved & Validated & Authorized;

/** What decides which hooks are asked about a call. */
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
