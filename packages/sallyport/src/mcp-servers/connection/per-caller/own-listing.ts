import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { SecretCaller, SecretStore } from '../../../external/secret-store.port.ts';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import type { Link, OpenOptions, ServerIdentity, ToolListing } from '../link.ts';
import { listFirst } from '../listing/first-listing.ts';
import type { OwnStatus } from '../supervised-parts.ts';

/** How the layer itself learns the tools of an upstream whose connections are per caller. */
export interface OwnListing {
  /** Lists the tools; an operator asked for it. */
  connect(operator: SecretCaller): Promise<ToolListing>;
  /** Lists them in the background, where that takes no operator. */
  startTrying(): void;
  tools(): readonly ListedMcpTool[];
  malformed(): ToolListing['malformed'];
  serverVersion(): string;
  status(): OwnStatus;
  close(): Promise<void>;
}

/** What a listing by the operator stands on. */
export interface OperatorListingParts {
  readonly definition: UpstreamDefinition;
  readonly tenantId: string;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly secrets?: SecretStore | undefined;
  open(secrets: SecretStore, options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
}

/** Whether nobody but an operator can list the tools: the layer has no credentials of its own for that. */
export function isListedByOperator({ per_caller, list_credentials }: UpstreamDefinition): boolean {
  return per_caller === true && list_credentials === undefined;
}

/**
 * Lists the tools once, with the credentials of the operator who adds the upstream; the connection ends with the listing.
 * Nothing is listed again before an operator adds it again, not at a start of the layer either.
 */
export function createOperatorListing(parts: OperatorListingParts): OwnListing {
  const { definition, clock } = parts;
  const closing = new AbortController();
  let listing: ToolListing = { tools: [], malformed: [] };
  let identity: ServerIdentity = {};
  let changedAt = clock.now();
  let working: Promise<unknown> = Promise.resolve();
  return {
    connect(operator) {
      const listed = listOnce(parts, operator, closing.signal).then((found) => {
        ({ listing, identity } = found);
        changedAt = clock.now();
        return listing;
      });
      working = listed.catch(() => {});
      return listed;
    },
    startTrying() {},
    tools: () => listing.tools,
    malformed: () => listing.malformed,
    serverVersion: () => identity.server?.version ?? '',
    status: () => ({
      name: definition.name,
      state: definition.disabled === true || closing.signal.aborted ? 'stopped' : 'ready',
      transport: definition.transport.type,
      ...(identity.protocolVersion === undefined ? {} : { protocol_version: identity.protocolVersion }),
      ...(identity.server === undefined ? {} : { server: identity.server }),
      capabilities: [...(identity.capabilities ?? [])],
      tool_count: listing.tools.length,
      malformed_count: listing.malformed.length,
      restart_count: 0,
      changed_at: new Date(changedAt).toISOString(),
    }),
    async close() {
      closing.abort();
      await working;
    },
  };
}

async function listOnce(parts: OperatorListingParts, operator: SecretCaller, closing: AbortSignal) {
  const { connectTimeoutMs, definition } = parts;
  const signal = AbortSignal.any([closing, AbortSignal.timeout(connectTimeoutMs)]);
  const asked = { ...operator, signal };
  const secrets: SecretStore = {
    read: async (tenantId, names) => (await parts.secrets?.read(tenantId, names, asked)) ?? new Map(),
  };
  const options = { signal, timeoutMs: connectTimeoutMs, olderProtocolOnly: false, onToolsChanged() {} };
  const link = await parts.open(secrets, options).catch(adviseListing);
  const listing = await listFirst(definition.name, link, signal);
  await link.close();
  return { listing, identity: link.identity };
}

/** The operator's own credentials do not do: there is another way. */
function adviseListing(thrown: unknown): never {
  if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3302') throw thrown;
  const advice = ' Or name secrets of the tenant in list_credentials, with which the layer lists the tools itself.';
  throw new ToolLayerError('E3302', thrown.message + advice, thrown.failure);
}
