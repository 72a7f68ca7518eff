import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { EmbeddedTransport } from '../../../api/schemas/upstream.ts';
import type { EmbeddedServer, EmbeddedServers } from '../embedded-server.port.ts';
import type { Link, LinkCallOptions, UpstreamCallResult } from './link.ts';
import { methodTools } from './listing/method-tools.ts';

/** Dependencies of a link to a server in this process. */
export interface EmbeddedLinkParts {
  readonly embedded: EmbeddedServers;
}

/** @throws E3801 when it does not run in this process */
export function embeddedServer(servers: EmbeddedServers, { server }: EmbeddedTransport): EmbeddedServer {
  const found = servers[server];
  if (found !== undefined) return found;
  const message = `The reference server '${server}' does not run in this layer. Set ${server}.embedded to on, or remove the upstream.`;
  throw new ToolLayerError('E3801', message);
}

const capabilitiesOf = ({ templates }: EmbeddedServer): Readonly<Record<string, unknown>> =>
  templates.length === 0 ? { tools: {} } : { tools: {}, resources: { subscribe: true } };

/**
 * A link to a server in this process. Nothing is sent, so there is nothing to lose: it ends only when it is closed.
 * @throws E3801 when there is no such server
 */
export async function openEmbeddedLink(
  { embedded }: EmbeddedLinkParts,
  name: string,
  transport: EmbeddedTransport,
): Promise<Link> {
  const server = embeddedServer(embedded, transport);
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const { version, instructions, templates } = server;
  const capabilities = capabilitiesOf(server);
  return {
    identity: { server: { name: transport.server, version }, capabilities: Object.keys(capabilities).sort() },
    olderProtocolOnly: false,
    listTools: async () => ({ tools: [...server.tools, ...methodTools(capabilities)], malformed: [] }),
    listOffers: async () => ({
      offers: { instructions, capabilities, resources: [], templates, prompts: [] },
      incomplete: [],
    }),
    watch: async () => Promise.reject(new ToolLayerError('E3809', `Name whose resource of '${name}' is watched.`)),
    call: (tool, args, options) => call(server, name, tool, args, options),
    follow: () => Promise.reject(noTasks(name)),
    cancelTask: () => Promise.reject(noTasks(name)),
    ping: async () => {},
    ended,
    close: async () => end('it was closed.'),
  };
}

async function call(
  server: EmbeddedServer,
  name: string,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  { caller, signal, timeoutMs }: LinkCallOptions,
): Promise<UpstreamCallResult> {
  if (caller === undefined) throw new ToolLayerError('E3309', `The upstream '${name}' has to know whose call it is.`);
  const { principal, checkDocument } = caller;
  const whose = checkDocument === undefined ? principal : { ...principal, checkDocument };
  const late = timeoutMs === undefined ? [] : [AbortSignal.timeout(Math.ceil(timeoutMs))];
  const stopped = AbortSignal.any([...(signal === undefined ? [] : [signal]), ...late]);
  stopped.throwIfAborted();
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.aborted === true ? signal.reason : tooLate(name, timeoutMs));
  stopped.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([cut, server.call(tool, args, whose, stopped)]);
  } finally {
    stopped.removeEventListener('abort', onAbort);
  }
}

const noTasks = (name: string): ToolLayerError =>
  new ToolLayerError('E3309', `The upstream '${name}' runs no call as a task.`);

const tooLate = (name: string, timeoutMs: number | undefined): ToolLayerError =>
  new ToolLayerError('E3103', `The upstream '${name}' did not answer within ${timeoutMs} ms.`, {
    details: { reached: true },
  });
