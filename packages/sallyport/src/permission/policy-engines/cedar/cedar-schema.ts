import { TrustLevel } from '../../../../api/schemas/capability-token.ts';
import { InvocationPhase } from '../../../../api/schemas/invocation.ts';
import { DocumentAccessMode, ExecutorKind, SideEffectPolicy } from '../../../../api/schemas/tool-manifest.ts';

/**
 * Everything that policies can refer to. Policies are checked against it when loaded, so a misspelt name is an error
 * then.
 */
export const CEDAR_SCHEMA = `
entity Tenant;
entity User in [Tenant];
entity Agent in [User, Tenant] = {
  did: String,
  tenant: String,
  user?: String,
  session?: String,
  roles: Set<String>,
  trust: String,
};
entity Source in [Tenant];
entity Server in [Tenant];
entity Tool in [Source, Server, Tenant] = {
  id: String,
  version: String,
  contentHash: String,
  source: String,
  executor: String,
  category: String,
  tags: Set<String>,
  sideEffect: String,
};
action invoke appliesTo {
  principal: [Agent],
  resource: [Tool],
  context: {
    phase?: String,
    trust: String,
    argumentFindings: Set<String>,
    reads: Set<String>,
    readsUnder: Set<String>,
    writes: Set<String>,
    writesUnder: Set<String>,
    hosts: Set<String>,
    domains: Set<String>,
    ports: Set<Long>,
    addresses: Set<String>,
    credentials: Set<String>,
    timeoutMs: Long,
    cpuMillicores: Long,
    memoryMb: Long,
    document?: String,
    documentMode?: String,
  },
};
`;

/** Attributes with a closed set of words. Comparing one with another word never matches, so it is an error. */
export const CLOSED_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  'resource.sideEffect': SideEffectPolicy.enum,
  'resource.executor': ExecutorKind.enum,
  'principal.trust': TrustLevel.enum,
  'context.trust': TrustLevel.enum,
  'context.phase': InvocationPhase.enum,
  'context.documentMode': DocumentAccessMode.enum,
};
