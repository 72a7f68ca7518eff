/** What policies can speak about. Policies are checked against it when they are loaded, so a misspelt name is an error then. */
export const CEDAR_SCHEMA = `
entity Tenant;
entity Agent in [Tenant] = {
  did: String,
  tenant: String,
  user?: String,
  session?: String,
  roles: Set<String>,
};
entity Source in [Tenant];
entity Tool in [Source, Tenant] = {
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
    reads: Set<String>,
    writes: Set<String>,
    hosts: Set<String>,
    ports: Set<Long>,
    addresses: Set<String>,
    credentials: Set<String>,
    timeoutMs: Long,
    cpuMillicores: Long,
    memoryMb: Long,
  },
};
`;
