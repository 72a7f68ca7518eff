import type { AttributesUsed } from './attributes-used.ts';
import type { ParsedPolicy } from './policy-set.ts';

/** Name of the file that a new policy folder starts with. */
export const DEFAULT_POLICY_FILE = 'default.cedar';

const ID = 'permit-what-the-token-allows';
const PERMIT = `@id("${ID}")
permit (principal, action == Action::"invoke", resource);`;

/** The parsed content of that file; a test compares it with the file. */
export const DEFAULT_POLICIES: readonly ParsedPolicy[] = [
  {
    name: `${DEFAULT_POLICY_FILE}:${ID}`,
    text: PERMIT,
    effect: 'allow',
    file: DEFAULT_POLICY_FILE,
    line: 12,
    shadow: false,
  },
];

/** The attributes that the file uses; compared by the same test. */
export const DEFAULT_USED: AttributesUsed = {
  principal: new Set(),
  resource: new Set(),
  context: new Set(),
  parents: false,
};

/** The text of that file: everything that a valid capability token allows may run. */
export function defaultPolicies(): string {
  return `// Policies of this tool layer, in the Cedar language (https://docs.cedarpolicy.com). docs/policies.md says more.
//
// Every *.cedar file of this folder counts. A call runs when at least one policy permits it and none forbids it; without
// a permit nothing runs. By the time policies are asked, the capability token has been verified and what the tool needs
// lies within the token, the manifest and the agent's sandbox context. Policies can only narrow that further.
//
//   principal  Agent   did, tenant, user, session, roles, trust; in User, in Tenant
//   action     Action::"invoke"
//   resource   Tool    id, version, contentHash, source, executor, category, tags, sideEffect; in Source, Server, Tenant
//   context            phase, trust, reads, writes, hosts, addresses ("host:port"), credentials, timeoutMs and more

${PERMIT}

// An example that you may want to have (remove the slashes):
//
// @id("nothing-irreversible-for-the-intern")
// forbid (principal == Agent::"did:example:intern", action == Action::"invoke", resource)
// when { resource.sideEffect == "irreversible" };
`;
}
