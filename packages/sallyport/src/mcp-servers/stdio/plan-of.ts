import { basename } from 'node:path';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { StdioTransport, UpstreamDefinition, UpstreamPlan } from '../../../api/schemas/upstream.ts';
import type { UpstreamChecks } from '../connection/per-caller/keep-upstream.ts';
import type { Packages } from '../packages.ts';
import { sandboxSpecOf } from './sandbox-spec.ts';

/** Dependencies of a plan. */
export interface PlanParts extends UpstreamChecks {
  readonly packages: Packages;
}

const CONTAINER_PROGRAMS = new Set(['docker', 'podman', 'nerdctl']);

/**
 * What adding an upstream needs first. Examines this machine alone: whether a server answers shows only when it is
 * contacted.
 */
export function planOf(parts: PlanParts, tenantId: string, definition: UpstreamDefinition): UpstreamPlan {
  const { name, transport, disabled } = definition;
  if (disabled === true) return { name, start: 'disabled' };
  try {
    parts.checkDefinition(tenantId, definition);
    if (transport.type !== 'stdio') return { name, start: transport.type };
    const { mounts } = transport;
    return { ...programPlan(parts, name, transport), ...(mounts === undefined ? {} : { mounts }) };
  } catch (thrown) {
    const isContainer = transport.type === 'stdio' && CONTAINER_PROGRAMS.has(basename(transport.command));
    return { name, start: isContainer ? 'container' : 'missing', reason: failureOf(thrown).message };
  }
}

function programPlan({ packages, checkShown }: PlanParts, name: string, transport: StdioTransport): UpstreamPlan {
  const wanted = transport.installed === undefined ? packages.wanted(transport) : undefined;
  const known = wanted === undefined ? undefined : packages.known(wanted);
  if (wanted !== undefined && known === undefined) return { name, start: 'install', package: wanted.spec };
  const installed = known === undefined ? {} : { installed: known };
  sandboxSpecOf(name, { ...transport, ...installed }, transport.env ?? {}, checkShown, packages);
  return { name, start: 'ready' };
}
