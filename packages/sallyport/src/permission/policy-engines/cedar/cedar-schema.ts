/** What policies can speak about. Policies are checked against it when they are loaded, so a misspelt name is an error then. */
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
  },
};
`;

/** Attributes that take one of a few words. Comparing one with another word never matches, so it is an error. */
export const CLOSED_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  'resource.sideEffect': ['pure', 'idempotent', 'compensatable', 'irreversible'],
  'resource.executor': ['native', 'shell', 'http', 'mcp', 'file', 'web', 'composio', 'skill'],
  'principal.trust': ['untrusted', 'provisional', 'trusted'],
  'context.trust': ['untrusted', 'provisional', 'trusted'],
  'context.phase': ['planner', 'executor', 'verifier', 'autonomous'],
};
