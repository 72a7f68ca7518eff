import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/**
 * Refuses a manifest under an id that belongs to an upstream's tool: callers who know that tool by the id would reach
 * another one. An id belongs to its tool for as long as the upstream is registered, listed or not (REG-09).
 * @param manifest as it was given, possibly no valid manifest
 * @returns E3007; undefined for an id that is free, and for a manifest of that very tool
 */
export function ownedId(
  { quarantine }: Pick<OperationParts, 'quarantine'>,
  { principal: { tenantId } }: Pick<Asker, 'principal'>,
  manifest: unknown,
): Failure | undefined {
  const { tool_id, executor } = Object(manifest) as Partial<Record<string, unknown>>;
  const owner = typeof tool_id === 'string' ? quarantine.find(tenantId, tool_id) : undefined;
  if (owner === undefined) return undefined;
  const { kind, config } = Object(executor) as Partial<Record<string, unknown>>;
  const { upstream, tool } = Object(config) as Partial<Record<string, unknown>>;
  if (kind === 'mcp' && upstream === owner.upstream && tool === owner.tool) return undefined;
  return failure(
    'E3007',
    `The id ${owner.toolId} belongs to a tool of the upstream ${owner.upstream}. Take another id, or remove the upstream first.`,
    { details: { tool_id: owner.toolId, upstream: owner.upstream } },
  );
}
