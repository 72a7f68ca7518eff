import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';
import type { SecretCaller, SecretStore } from '../../../external/secret-store.port.ts';
import { type HttpLinkParts, openHttpLink } from '../../http/http-link.ts';
import { openStdioLink, type StdioLinkParts } from '../../stdio/stdio-link.ts';
import type { Link, OpenOptions, ToolListing } from '../link.ts';
import { Supervised } from '../supervised.ts';
import type { SupervisedParts } from '../supervised-parts.ts';
import { createAsking } from './asking.ts';
import { standIns } from './caller-credentials.ts';
import { createOperatorListing } from './own-listing.ts';
import { PerCallerUpstream } from './per-caller-upstream.ts';

/** One upstream that is kept, over one connection for all, or one for each caller or client. */
export interface KeptUpstream extends Omit<Supervised, 'connect'> {
  /** Connects now, lists the tools and throws what went wrong. @param operator who asks for it */
  connect(operator: SecretCaller): Promise<ToolListing>;
}

/** What the machine lets upstreams have. */
export interface UpstreamChecks {
  /** Asked before each connection. @throws ToolLayerError for what its operator does not allow this tenant's upstream */
  readonly checkDefinition?: (tenantId: string, definition: UpstreamDefinition) => void;
  /** Asked with the paths of programs, code and folders before each start of a stdio server. @throws ToolLayerError */
  readonly checkShown?: StdioLinkParts['checkShown'];
}

/** What an upstream is kept with. */
export interface KeptUpstreamParts extends Omit<SupervisedParts, 'open'> {
  readonly tenantId: string;
  readonly link: StdioLinkParts & HttpLinkParts & Pick<UpstreamChecks, 'checkDefinition'>;
  /** A way out for one caller's connection alone; see `UpstreamsParts.callerOutbound`. */
  readonly callerOutbound?: (() => OutboundHttp) | undefined;
}

type Options = OpenOptions & { readonly timeoutMs: number };

/** Nothing is connected before `connect` or `startTrying`. */
export function keepUpstream(parts: KeptUpstreamParts): KeptUpstream {
  const { definition, tenantId, link, clock, settings } = parts;
  const { per_caller: perCaller, list_credentials: standing } = definition;
  const open = (secrets: SecretStore | undefined, options: Options) => openLink(parts, { ...link, secrets }, options);
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
      : new Supervised({ ...parts, open: (options) => open(own, options) });
  return new PerCallerUpstream({
    ...parts,
    listing,
    asking,
    open: (secrets, options) => openCallers(parts, secrets, options),
  });
}

async function openLink(
  { tenantId, definition }: KeptUpstreamParts,
  link: KeptUpstreamParts['link'],
  options: Options,
): Promise<Link> {
  link.checkDefinition?.(tenantId, definition);
  const { name, transport } = definition;
  return transport.type === 'stdio'
    ? openStdioLink(link, tenantId, name, transport, options)
    : openHttpLink(link, tenantId, name, transport, options);
}

/** Over sockets of its own, too, where there is a way out to be had for it. */
async function openCallers(parts: KeptUpstreamParts, secrets: SecretStore, options: Options): Promise<Link> {
  const isHttp = parts.definition.transport.type !== 'stdio';
  const outbound = isHttp ? parts.callerOutbound?.() : undefined;
  if (outbound === undefined) return openLink(parts, { ...parts.link, secrets }, options);
  try {
    const link = await openLink(parts, { ...parts.link, secrets, outbound }, options);
    void link.ended.then(() => outbound[Symbol.dispose]());
    return link;
  } catch (thrown) {
    outbound[Symbol.dispose]();
    throw thrown;
  }
}
