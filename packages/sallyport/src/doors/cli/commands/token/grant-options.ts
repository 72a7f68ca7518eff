import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Role, TokenMintRequest, TrustLevel } from '../../../../../api/schemas/capability-token.ts';
import { collect, oneOf, port } from '../../input/option-values.ts';

/** Options that say what a credential may grant. */
export interface GrantOptions {
  readonly tool?: string;
  readonly toolVersion?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly session?: string;
  readonly path?: readonly string[];
  readonly mode?: 'ro' | 'rw';
  readonly host?: readonly string[];
  readonly port?: readonly number[];
  readonly secret?: readonly string[];
  readonly role?: readonly Role[];
  readonly trust?: TrustLevel;
  readonly boundTo?: string;
  readonly expires?: number;
}

const ROLES: readonly Role[] = ['agent', 'viewer', 'operator', 'approver', 'admin'];
const TRUST: readonly TrustLevel[] = ['untrusted', 'provisional', 'trusted'];

/** Adds the options that limit a credential. */
export function withGrantOptions(command: Command): Command {
  const role = oneOf(ROLES);
  return command
    .option('--tool <id>', 'tool that it allows; * stands for any run of characters')
    .option('--tool-version <range>', 'versions of the tool that it allows')
    .option('--agent <did>', 'agent that it is for')
    .option('--user <did>', 'user for whom the agent acts; this user may confirm calls at the MCP client')
    .option('--tenant <id>', 'tenant that it is for')
    .option('--path <path>', 'path that it allows; several times for several', collect)
    .option('--mode <mode>', 'ro or rw, for all paths', oneOf(['ro', 'rw']))
    .option('--host <host>', 'host that it allows; several times for several', collect)
    .option(
      '--port <port>',
      'port that it allows; several times for several',
      (text, before: readonly number[] = []) => [...before, port(text)],
    )
    .option('--secret <name>', 'secret that it allows; several times for several', collect)
    .option('--role <role>', 'role that it gives; several times for several', (text, before: readonly Role[] = []) => [
      ...before,
      role(text),
    ])
    .option('--trust <level>', 'untrusted, provisional or trusted; trust.default when absent', oneOf(TRUST))
    .option('--bound-to <thumbprint>', 'key that its sender must prove to hold (DPoP): RFC 7638 thumbprint, SHA-256');
}

/** Turns the options into a request. */
export function requestOf(options: GrantOptions, cwd: string): TokenMintRequest {
  const {
    tool,
    toolVersion,
    agent,
    user,
    tenant,
    session,
    path,
    mode,
    host,
    port: ports,
    secret,
    role,
    trust,
    boundTo,
    expires,
  } = options;
  const given = {
    tool_id: tool,
    tool_version: toolVersion,
    agent_did: agent,
    user_did: user,
    tenant_id: tenant,
    session_id: session,
    paths: path?.map((each) => resolve(cwd, each)),
    mode,
    hosts: host && [...host],
    ports: ports && [...ports],
    secrets: secret && [...secret],
    roles: role && [...role],
    trust_level: trust,
    key_thumbprint: boundTo,
    expires_in_seconds: expires === undefined ? undefined : Math.round(expires),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
