import type { ExecutorCall } from '../../executors/executor.port.ts';
import type { Admitted, Authorized, CallRequest, Prepared, Resolved, Validated } from '../call.ts';
import type { Flight } from '../flight/flight.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The call as its executor sees it. */
export function executorCall(
  call: CallRequest & Admitted & Resolved & Validated & Authorized & Partial<Prepared>,
  flight: Flight,
): ExecutorCall {
  const { onProgress } = call.caller;
  return {
    invocationId: call.invocationId,
    principal: call.principal,
    tool: call.tool,
    parameters: call.parameters,
    grant: call.grant,
    secrets: call.secrets ?? NO_SECRETS,
    attempt: flight.attempts,
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}
