import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { type HttpLinkParts, openHttpLink } from '../../http/http-link.ts';
import type { ResourceListener, ServerOffers, UpstreamCaller } from '../../known-upstream.ts';
import { openStdioLink, type StdioLinkParts } from '../../stdio/stdio-link.ts';
import type { UpstreamLogins } from '../../upstream-logins.ts';
import { type EmbeddedLinkParts, openEmbeddedLink } from '../embedded-link.ts';
import type { Link, OpenOptions, ToolListing } from '../link.ts';
import { withoutSecrets } from '../secrets/without-secrets.ts';
import { Supervised } from '../supervised.ts';
import type { SupervisedParts } from '../supervised-parts.ts';
import { createAsking } from './asking.ts';
import { type KnownCaller, secretsOf, standIns } from './caller-credentials.ts';
import { createOperatorListing, type UpstreamOperator } from './own-listing.ts';
import { PerCallerUpstream } from './per-caller-upstream.ts';

/** One upstream that is kept running, over one connection for all, or one per caller or client. */
export interface KeptUpstream extends Omit<Supervised, 'connect' | 'watchResource'> {
  /** Connects now and lists the tools; throws the failure. @param operator who asks for it */
  connect(operator: UpstreamOperator): Promise<ToolListing>;
  /** What it offers to a caller beside its tools; see `UpstreamOffers.offers`. */
  offersTo(caller: UpstreamCaller | undefined): Promise<ServerOffers>;
  /** See `UpstreamOffers.watchResource`. */
  watchResource(uri: string, listener: ResourceListener, caller: UpstreamCaller | undefined): Promise<Disposable>;
  /** Whose connections are open; undefined for the one that all callers share. */
  holders(): Iterable<string | undefined>;
  /** Ends the connections of this holder where each caller has one: its authorization has ended. */
  endLogin(holder: string): void;
}

/** Checks of what this machine allows upstreams. */
export interface UpstreamChecks {
  /**
   * Called before each connection. @throws ToolLayerError for what the operator of the machine does not allow this
   * tenant's upstream
   */
  readonly checkDefinition: (tenantId: string, definition: UpstreamDefinition) => void;
  /** Called before each start of a stdio server with the paths of programs, code and folders. @throws ToolLayerError */
  readonly checkShown: StdioLinkParts['checkShown'];
}

/** Dependencies of a kept upstream. */
export interface KeptUpstreamParts extends Omit<SupervisedParts, 'open'> {
  readonly tenantId: string;
  readonly link: StdioLinkParts &
    Omit<HttpLinkParts, 'authorizer'> &
    Pick<UpstreamChecks, 'checkDefinition'> &
    EmbeddedLinkParts & { readonly logins: Pick<UpstreamLogins, 'authorizer'> };
  /** Makes outbound HTTP for one caller's connection alone; see `UpstreamsParts.callerOutbound`. */
  readonly callerOutbound: () => OutboundHttp;
}

type Options = OpenOptions & { readonly timeoutMs: number };

/** Makes the upstream; it connects only after `connect` or `startTrying`. */
export function keepUpstream(parts: KeptUpstreamParts): KeptUpstream {
  const { definition, tenantId, link, clock, settings } = parts;
  const { per_caller: perCaller, list_credentials: standing } = definition;
  const open = (secrets: SecretStore, options: Options, holder?: string) =>
    openLink(parts, { ...link, secrets }, options, holder);
  const asking = createAsking();
  if (perCaller !== true) {
    const { onAsks } = asking;
    const shared = new Supervised({ ...parts, open: (options) => open(link.secrets, { ...options, onAsks }) });
    const apart = (options: Options) => open(link.secrets, options);
    return new PerCallerUpstream({
      ...parts,
      listing: shared,
      shared,
      asking,
      open: (_none, options) => apart(options),
    });
  }

  const own = standing === undefined ? undefined : standIns(link.secrets, standing);
  const { connectTimeoutMs } = settings;
  const listing =
    own === undefined
      ? createOperatorListing({ definition, tenantId, clock, connectTimeoutMs, secrets: link.secrets, open })
      : new Supervised({ ...parts, heldOffers: undefined, onLog() {}, open: (options) => open(own, options) });
  return new PerCallerUpstream({
    ...parts,
    listing,
    asking,
    open: (caller, options) => openCallers(parts, caller, options),
  });
}

async function openLink(
  { tenantId, definition }: KeptUpstreamParts,
  link: KeptUpstreamParts['link'],
  options: Options,
  holder?: string,
): Promise<Link> {
  link.checkDefinition(tenantId, definition);
  const { name, transport, may_ask: mayAsk } = definition;
  const parts = { ...link, mayAsk };
  if (transport.type === 'embedded') return openEmbeddedLink(link, name, transport);
  if (transport.type === 'stdio') return openStdioLink(parts, tenantId, name, transport, options);
  const authorizer = link.logins.authorizer(tenantId, definition, holder, link.secrets);
  const opened = await openHttpLink({ ...parts, authorizer }, tenantId, name, transport, options);
  if (authorizer === undefined || holder === undefined) return opened;
  // Tokens of a caller's login are no credentials of the call, so nobody after this takes them out of results.
  return { ...withoutSecrets({ ...opened, hide: authorizer.hide }), hide: opened.hide };
}

/** With sockets of its own per caller. */
async function openCallers(parts: KeptUpstreamParts, caller: KnownCaller, options: Options): Promise<Link> {
  const { holder } = caller;
  const secrets = secretsOf(caller);
  const isHttp = parts.definition.transport.type !== 'stdio';
  const outbound = isHttp ? parts.callerOutbound() : undefined;
  if (outbound === undefined) return openLink(parts, { ...parts.link, secrets }, options, holder);
  try {
    const link = await openLink(parts, { ...parts.link, secrets, outbound }, options, holder);
    void link.ended.then(() => outbound[Symbol.dispose]());
    return link;
  } catch (thrown) {
    outbound[Symbol.dispose]();
    throw thrown;
  }
}
