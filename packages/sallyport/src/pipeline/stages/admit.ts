import { type Failure, failure } from '@sallyport/std/error/failure';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { checkPayload } from '../../validation/check-payload.ts';
import type { Admitted, CallRequest } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** Field in which a model thinks aloud. No later stage sees it, and no row of a waiting call keeps it (MOD-02). */
const THINK_FIELD = '_tafc_think';
/** Retry hint, in ms, when the layer is full. */
const OVERLOAD_RETRY_MS = 250;

/**
 * Checks ids, limits of size and depth, and room in the layer. Refuses what this layer cannot do instead of ignoring
 * it.
 */
export function admit({
  clock,
  limits,
  running,
  workers,
}: Pick<PipelineParts, 'clock' | 'limits' | 'running' | 'workers'>): Stage<CallRequest, Admitted> {
  return {
    name: 'admit',
    async run({ request, onBehalfOf }, { resumed, nonce }) {
      // Not counted again: a resumed call was counted when it was accepted, and a compensating call belongs to the
      // original.
      if (resumed === undefined && onBehalfOf === undefined && running.sizeWithoutWaiting >= limits.callsMax) {
        return failure('E3803', `The layer runs ${limits.callsMax} calls already. Try again in a moment.`, {
          retryAfterMs: OVERLOAD_RETRY_MS,
        });
      }
      const givenParameters = withoutThoughts(request.parameters ?? {});
      return (
        unsupported(request, workers) ??
        (resumed === undefined ? overloaded(request, workers) : undefined) ??
        argumentsOutOfBounds(givenParameters, limits) ?? {
          // The id that the caller chose is this call's only once it is claimed (reuse).
          invocationId: resumed?.invocationId ?? nonce,
          acceptedAt: resumed?.acceptedAt ?? clock.now(),
          givenParameters,
        }
      );
    },
  };
}

/** Refusal of a call for later where nobody runs it later. */
function unsupported({ execution_options }: ToolInvokeRequest, workers: PipelineParts['workers']): Failure | undefined {
  if (execution_options?.async_mode !== true || workers !== undefined) return undefined;
  const option = 'execution_options.async_mode';
  return failure('E3901', `This layer cannot do ${option}. Leave it out, or call without it.`, { details: { option } });
}

function overloaded({ execution_options: options }: ToolInvokeRequest, workers: PipelineParts['workers']) {
  return options?.async_mode === true ? workers?.refuses(options.priority ?? 'normal') : undefined;
}

/** Refusal of arguments that are too large or too deep, before any schema sees them. */
export function argumentsOutOfBounds(
  parameters: Readonly<Record<string, unknown>>,
  limits: PipelineParts['limits'],
): Failure | undefined {
  const faults = checkPayload(parameters, {
    depthMax: limits.argumentDepthMax,
    stringBytesMax: limits.argumentBytesMax,
  });
  const [first] = faults;
  if (first === undefined) return undefined;
  const code = first.code === 'E3801' ? 'E3801' : 'E3810';
  return failure(code, `The parameters cannot be taken: ${first.message}`, { details: { faults } });
}

function withoutThoughts(parameters: Parameters): Parameters {
  for (const name in parameters) {
    if (name.startsWith(THINK_FIELD)) {
      return Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(THINK_FIELD)));
    }
  }
  return parameters;
}
