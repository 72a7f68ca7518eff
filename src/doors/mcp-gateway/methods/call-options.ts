// Hot path: every tools/call passes here.
import { InvocationPhase, type ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import { metaOf } from '../../mcp-protocol.ts';

/** When in its reasoning the agent calls; one of the phases of the contract (PRM-09). */
const META_PHASE = 'sallyport/phase';
/** Where the content of the arguments came from, in the words of the caller (PRM-08). */
const META_CLAIM_SOURCE = 'sallyport/claim_source';
/** The attempt at answering that the call belongs to (VIS-04). */
const META_TURN_GROUP = 'sallyport/turn_group_id';
/** `true`: say what would become of the call and run nothing (PIPE-15). */
const META_DRY_RUN = 'sallyport/dry_run';

/** A call as `_meta` has it. */
export interface AskedCall {
  readonly input: ToolInvokeRequest;
  readonly dryRun: boolean;
}

/** The call with what its `_meta` says of it, or what is wrong there: a fault must not turn a dry run into a call. */
export function callOptions(input: ToolInvokeRequest, params: Readonly<Record<string, unknown>>): AskedCall | string {
  const meta = metaOf(params);
  const phase = meta[META_PHASE];
  const claimSource = meta[META_CLAIM_SOURCE];
  const dryRun = meta[META_DRY_RUN];
  const turnGroup = meta[META_TURN_GROUP];
  // The common case first: a client that knows nothing of these.
  if (phase === undefined && claimSource === undefined && dryRun === undefined && turnGroup === undefined)
    return { input, dryRun: false };
  if (dryRun !== undefined && typeof dryRun !== 'boolean') return `_meta.${META_DRY_RUN} must be true or false.`;
  if (phase !== undefined && !isPhase(phase))
    return `_meta.${META_PHASE} must be one of ${InvocationPhase.enum.join(', ')}.`;
  if (claimSource !== undefined && typeof claimSource !== 'string') return `_meta.${META_CLAIM_SOURCE} must be a text.`;
  if (turnGroup !== undefined && typeof turnGroup !== 'string') return `_meta.${META_TURN_GROUP} must be a text.`;
  const options = {
    ...input.execution_options,
    ...(phase === undefined ? {} : { phase }),
    ...(claimSource === undefined ? {} : { claim_source: claimSource }),
    ...(turnGroup === undefined ? {} : { turn_group_id: turnGroup }),
  };
  return { input: { ...input, execution_options: options }, dryRun: dryRun === true };
}

const isPhase = (value: unknown): value is InvocationPhase => InvocationPhase.enum.some((phase) => phase === value);
