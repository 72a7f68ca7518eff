import { failure } from '@sallyport/std/error/failure';
import {
  type DesktopServer,
  type UpstreamDefinition,
  UpstreamExportRequest,
  UpstreamExportResponse,
} from '../../../api/schemas/upstream.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { withPlaceholders } from './get-upstream.ts';

/**
 * The upstreams of a tenant as the `mcpServers` JSON of desktop clients; placeholders stand for values that may be
 * secrets.
 */
export const exportUpstreams = operation({
  name: 'upstreams.export',
  summary: "The upstreams as a desktop client's mcpServers JSON, without values of secrets (REG-14)",
  method: 'POST',
  path: '/v1/exports/mcp-servers',
  status: 200,
  access: 'operator',
  input: UpstreamExportRequest,
  output: UpstreamExportResponse,
  run:
    ({ upstreams }: Pick<OperationParts, 'upstreams'>) =>
    ({ names }, { principal: { tenantId } }) => {
      const others = upstreams.statuses(tenantId).filter(({ transport }) => transport !== 'embedded');
      const wanted = names ?? others.map(({ name }) => name);
      const servers: Record<string, DesktopServer> = {};
      for (const name of wanted) {
        const current = upstreams.current(tenantId, name);
        if (current === undefined) return failure('E3809', `There is no upstream ${name}.`);
        const server = serverOf(current.definition);
        if (server === undefined) return failure('E3809', `The upstream ${name} is part of the layer. ${USE_IT}`);
        servers[name] = server;
      }
      return { mcpServers: servers };
    },
});

const USE_IT = 'Let the client connect to the layer, at /mcp/servers/NAME or with sallyport mcp --server NAME.';

/** Undefined for a server that no client can start. */
function serverOf(definition: UpstreamDefinition): DesktopServer | undefined {
  const { transport, disabled } = withPlaceholders(definition);
  const off = disabled === true ? { disabled } : {};
  if (transport.type === 'embedded') return undefined;
  if (transport.type !== 'stdio') return { ...transport, ...off };
  const { command, args, cwd, env } = transport;
  return {
    ...{ type: transport.type, command },
    ...(args === undefined ? {} : { args: pinned(args, transport.installed) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...off,
  };
}

/** Names the installed version, so that another client runs the same one. */
function pinned(
  args: readonly string[],
  installed: { readonly manager: string; readonly name: string; readonly version: string } | undefined,
): string[] {
  if (installed === undefined) return [...args];
  const { name, version } = installed;
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}@`));
  return at === -1 ? [...args] : args.with(at, `${name}@${version}`);
}
