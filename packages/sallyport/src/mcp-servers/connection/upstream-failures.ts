import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** E3809 for an upstream that the tenant does not have. */
export function unknownUpstream(name: string): ToolLayerError {
  return new ToolLayerError('E3809', `There is no upstream '${name}'.`, { details: { reached: false } });
}

/** E3102 for one upstream more than a tenant may have. */
export function tooMany(max: number): ToolLayerError {
  return new ToolLayerError('E3102', `The tenant has ${max} upstreams, as many as it may. Remove one first.`);
}

/** E3811 once the upstreams are closed. */
export function closedDown(): ToolLayerError {
  return new ToolLayerError('E3811', 'The layer is stopping.', { details: { reached: false } });
}
