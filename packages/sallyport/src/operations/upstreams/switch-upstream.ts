import { failure } from '@sallyport/std/error/failure';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

type Parts = Pick<OperationParts, 'upstreams' | 'ledger' | 'clock'>;

/** Stops an upstream for good, or starts it again; it stays so when the layer is started anew. */
export function switchUpstream(parts: Parts, disabled: boolean): Run<'upstreams.disable' | 'upstreams.enable'> {
  return async ({ name }, asker) => {
    const upstream = await parts.upstreams.restart(asker.principal.tenantId, name, disabled);
    if (upstream === undefined) return failure('E3809', `There is no upstream ${name}.`);
    const change = disabled ? 'upstream-disabled' : 'upstream-enabled';
    await recordChange(parts, asker, name, { change, upstream: name, tool_ids: [] });
    return { upstream };
  };
}

/** Ends what runs of an upstream and starts it anew. */
export function restartUpstream({ upstreams }: Parts): Run<'upstreams.restart'> {
  return async ({ name }, { principal: { tenantId } }) => {
    const current = upstreams.current(tenantId, name);
    if (current?.definition.disabled === true) {
      return failure('E3309', `The upstream ${name} is disabled. Type: sallyport upstreams enable ${name}`);
    }
    const upstream = await upstreams.restart(tenantId, name);
    return upstream === undefined ? failure('E3809', `There is no upstream ${name}.`) : { upstream };
  };
}

/** The last lines that an upstream wrote on its standard error. */
export function upstreamLogs({ upstreams }: Parts): Run<'upstreams.logs'> {
  return ({ name, after = 0 }, { principal }) => {
    const read = upstreams.logs(principal.tenantId, name, after);
    if (read === undefined) return failure('E3809', `There is no upstream ${name}.`);
    return { name, lines: [...read.lines], next: read.next };
  };
}
