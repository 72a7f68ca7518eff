import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { agreesWithContext, coversTool } from '../../../permission/token-scope.ts';
import type { CallRequest, Resolved } from '../../call.ts';
import { isRefused, type Stage } from '../../stage.ts';

/**
 * E3209 when the token is for another tool, version, operation or agent than the call, E3215 when it lacks the tool's
 * scope.
 */
export function tokenRefusal({ request, claims, tool }: CallRequest & Resolved): Failure | undefined {
  const { tool_id, version } = tool.manifest;
  return coversTool(claims, tool_id, version) ?? agreesWithContext(claims, request.agent_context);
}

/**
 * Wraps a stage so that only callers whose token covers the call see its refusal: to others, faults of their arguments
 * would reveal what the tool takes. They get the refusal of `authorize` instead.
 */
export function forTokenHolders<Needs, Adds extends object>(
  stage: Stage<Needs, Adds>,
): Stage<Needs & CallRequest & Resolved, Adds> {
  return {
    ...stage,
    async run(call, ongoing) {
      const end = await stage.run(call, ongoing);
      return isFailure(end) || isRefused(end) ? (tokenRefusal(call) ?? end) : end;
    },
  };
}
