import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { EventsOf } from '../../../domain/event/events-of.ts';
import type { SecretCaller, SecretStore } from '../../../external/secret-store.port.ts';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import { NO_OFFERS, type ServerOffers } from '../../known-upstream.ts';
import type { Link, OpenOptions, ServerIdentity, ToolListing } from '../link.ts';
import { listFirst } from '../listing/first-listing.ts';
import { countOfTools, type OwnStatus } from '../supervised-parts.ts';

/** Who adds an upstream. */
export interface UpstreamOperator extends SecretCaller {
  /** Whose authorization at the upstream is used; absent: that of the layer. */
  readonly holder?: string;
  /** Of the addition. */
  readonly events?: EventsOf<void>;
}

/** How the layer itself lists the tools of an upstream with per-caller connections. */
export interface OwnListing {
  /** Lists the tools at an operator's request. */
  connect(operator: UpstreamOperator): Promise<ToolListing>;
  /** Lists the tools in the background, where no operator is needed. */
  startTrying(): void;
  tools(): readonly ListedMcpTool[];
  malformed(): ToolListing['malformed'];
  serverVersion(): string;
  /** What the server offers beside its tools, where that is the same for all callers. */
  offers(): ServerOffers;
  status(): OwnStatus;
  close(): Promise<void>;
}

/** Dependencies of a listing by the operator. */
export interface OperatorListingParts {
  readonly definition: UpstreamDefinition;
  readonly tenantId: string;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly secrets: SecretStore;
  open(
    secrets: SecretStore,
    options: OpenOptions & { readonly timeoutMs: number },
    holder: string | undefined,
  ): Promise<Link>;
}

/** True when only an operator can list the tools: the layer has no credentials of its own for that. */
export function isListedByOperator({ per_caller, list_credentials }: UpstreamDefinition): boolean {
  return per_caller === true && list_credentials === undefined;
}

/**
 * Lists the tools once, with the credentials of the operator who adds the upstream; the connection ends after the
 * listing. They are listed again only when an operator adds the upstream again, not when the layer starts.
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
    offers: () => NO_OFFERS,
    status: () => ({
      name: definition.name,
      state: definition.disabled === true || closing.signal.aborted ? 'stopped' : 'ready',
      transport: definition.transport.type,
      ...(identity.protocolVersion === undefined ? {} : { protocol_version: identity.protocolVersion }),
      ...(identity.server === undefined ? {} : { server: identity.server }),
      capabilities: [...(identity.capabilities ?? [])],
      tool_count: countOfTools(listing.tools),
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

async function listOnce(parts: OperatorListingParts, operator: UpstreamOperator, closing: AbortSignal) {
  const { connectTimeoutMs, definition } = parts;
  const signal = AbortSignal.any([closing, AbortSignal.timeout(connectTimeoutMs)]);
  const asked = { ...operator, signal };
  const secrets: SecretStore = {
    read: (tenantId, names) => parts.secrets.read(tenantId, names, asked),
  };
  const options = { signal, timeoutMs: connectTimeoutMs, olderProtocolOnly: false, onToolsChanged() {} };
  const link = await parts.open(secrets, options, operator.holder).catch(adviseListing);
  const listing = await listFirst(definition.name, link, signal);
  await link.close();
  return { listing, identity: link.identity };
}

/** The operator's own credentials are refused: the error names the other way. */
function adviseListing(thrown: unknown): never {
  if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3302') throw thrown;
  const advice = ' Or name secrets of the tenant in list_credentials, with which the layer lists the tools itself.';
  throw new ToolLayerError('E3302', thrown.message + advice, thrown.failure);
}
