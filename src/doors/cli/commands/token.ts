import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Role, TokenMintRequest } from '../../../../api/schemas/capability-token.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit } from '../command-kit.ts';
import { collect, oneOf, port, seconds } from '../input/option-values.ts';

interface MintOptions {
  readonly tool?: string;
  readonly toolVersion?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly path?: readonly string[];
  readonly mode?: 'ro' | 'rw';
  readonly host?: readonly string[];
  readonly port?: readonly number[];
  readonly secret?: readonly string[];
  readonly role?: readonly Role[];
  readonly expires?: number;
}

const ROLES: readonly Role[] = ['agent', 'viewer', 'operator', 'approver', 'admin'];

/** `token mint`. */
export function addTokenCommands(program: Command, kit: CommandKit): void {
  const role = oneOf(ROLES);
  const mint = program
    .command('token')
    .description('make capability tokens')
    .command('mint')
    .description('sign a capability token and print it')
    .option('--tool <id>', 'tool that it allows; * stands for any run of characters')
    .option('--tool-version <range>', 'versions of the tool that it allows')
    .option('--agent <did>', 'agent that it is for')
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
    .option('--expires <duration>', 'how long it is good, for example 15m; an hour when absent', seconds);
  kit.asking<MintOptions>(mint, async ({ layer, caller, print, parts }, _args, options) => {
    const answer = await layer.ask('token.mint', requestOf(options, parts.io.cwd), caller);
    if (print.json) print.value(answer);
    else {
      print.line(answer.capability_token);
      const { tool_id, agent_did, exp } = answer.claims;
      print.note(`For ${tool_id} by ${agent_did}, good until ${new Date(exp * 1000).toISOString()}`);
    }
    return EXIT.ok;
  });
}

function requestOf(options: MintOptions, cwd: string): TokenMintRequest {
  const { tool, toolVersion, agent, tenant, path, mode, host, port: ports, secret, role, expires } = options;
  const given = {
    tool_id: tool,
    tool_version: toolVersion,
    agent_did: agent,
    tenant_id: tenant,
    paths: path?.map((each) => resolve(cwd, each)),
    mode,
    hosts: host && [...host],
    ports: ports && [...ports],
    secrets: secret && [...secret],
    roles: role && [...role],
    expires_in_seconds: expires === undefined ? undefined : Math.round(expires),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
