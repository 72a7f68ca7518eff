import type { Role } from '../../../../api/schemas/capability-token.ts';

/** What the development authorization server issues tokens for, and who it serves. */
export interface AuthorizationTerms {
  /** Its issuer, which is the layer's own address: loopback, without trailing slash. */
  readonly issuer: string;
  /** Addresses that tokens can be asked for (RFC 8707). The first is meant where a request names none. */
  readonly resources: readonly string[];
  /** True for these, and for the address of any one upstream. */
  isResource(address: string): boolean;
  /** Scopes that give a role. */
  readonly scopes: readonly { readonly scope: string; readonly role: Role }[];
  /** Scopes that tools are called with in place of `tools:call`. */
  readonly toolScopes: readonly { readonly scope: string; readonly tool: string }[];
  /** Names of those who can log in; one at least. */
  readonly users: readonly string[];
  /** What they log in with. */
  readonly loginCode: string;
  /** Secret of the client for programs that act for no user. */
  readonly clientSecret: string;
}

/** Id of the client for programs that act for no user. */
export const PROGRAM_CLIENT = 'program';

/** All scopes, each once. */
export function scopesOf({ scopes, toolScopes }: Pick<AuthorizationTerms, 'scopes' | 'toolScopes'>): readonly string[] {
  return [...new Set([...scopes, ...toolScopes].map(({ scope }) => scope))];
}

/** What a scope allows, for the user who is asked. */
export function meaningOf(
  scope: string,
  { scopes, toolScopes }: Pick<AuthorizationTerms, 'scopes' | 'toolScopes'>,
): string {
  const tools = toolScopes.filter((each) => each.scope === scope).map(({ tool }) => tool);
  if (tools.length > 0) return `Call these tools: ${tools.join(', ')}`;
  const role = scopes.find((each) => each.scope === scope)?.role;
  if (role === undefined) return OTHER[scope] ?? 'Something that this layer does not know';
  return MEANINGS[role];
}

const MEANINGS: Readonly<Record<Role, string>> = {
  agent: 'Call your tools',
  viewer: 'See the tools and calls of everybody in the tenant',
  operator: 'Manage tools, servers and credentials of the tenant',
  approver: 'Decide whether calls that wait for a person may run',
  admin: 'Do everything, and give every role',
};

const OTHER: Readonly<Record<string, string>> = {
  openid: 'Learn who you are',
  offline_access: 'Stay connected while you are away',
};
