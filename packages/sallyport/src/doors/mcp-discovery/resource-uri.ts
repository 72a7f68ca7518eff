/** A parsed URI of this server. Pages count from 1. */
export type Address =
  | { readonly kind: 'tenant-available'; readonly tenantId: string; readonly page: number }
  | { readonly kind: 'agent-enabled' | 'agent-unavailable'; readonly agentDid: string; readonly page: number }
  | { readonly kind: 'tool'; readonly toolId: string; readonly version?: string };

/** Longest URI, in characters; longer ones name nothing. */
export const URI_CHARACTERS_MAX = 2_048;

const ROOT = 'sallyport://tools/';
/** All other characters are percent-encoded (RFC 3986 §2.1). */
const URI_TEXT = /^[A-Za-z0-9._~:/?=%!$&'()*+,;@-]*$/;
const CONTROL = /\p{Cc}/u;

/** A template of RFC 6570 level 3, and the addresses it describes. */
export interface Template {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    uriTemplate: `${ROOT}tenant/{tenant_id}/available{?page}`,
    name: 'tenant-available',
    title: 'Tools of the tenant',
    description: 'The tools that the tenant has, whether or not an agent of it may use them.',
  },
  {
    uriTemplate: `${ROOT}agent/{agent_did}/enabled{?page}`,
    name: 'agent-enabled',
    title: 'Tools of the agent',
    description: 'The tools that the agent may use.',
  },
  {
    uriTemplate: `${ROOT}agent/{agent_did}/unavailable{?page}`,
    name: 'agent-unavailable',
    title: 'Tools that the agent lacks',
    description: 'The tools that the tenant has and the agent may not use, each with the reason.',
  },
  {
    uriTemplate: `${ROOT}tool/{tool_id}{?version}`,
    name: 'tool',
    title: 'One tool',
    description: 'The manifest of one tool that the asker may use: the newest version, or one in a range.',
  },
];

/** The URI of an address as it is listed. It does not name the first page and the newest version. */
export function uriOf(address: Address): string {
  switch (address.kind) {
    case 'tenant-available':
      return `${ROOT}tenant/${encode(address.tenantId)}/available${pageQuery(address.page)}`;
    case 'agent-enabled':
      return `${ROOT}agent/${encode(address.agentDid)}/enabled${pageQuery(address.page)}`;
    case 'agent-unavailable':
      return `${ROOT}agent/${encode(address.agentDid)}/unavailable${pageQuery(address.page)}`;
    case 'tool': {
      const { toolId, version } = address;
      return `${ROOT}tool/${encode(toolId)}${version === undefined ? '' : `?version=${encode(version)}`}`;
    }
  }
}

/**
 * The address in a URI; undefined for a URI that is not of this server. Parts are text, decoded once: dots, slashes and
 * further percent signs in them have no meaning.
 */
export function addressOf(uri: string): Address | undefined {
  if (uri.length > URI_CHARACTERS_MAX || !uri.startsWith(ROOT) || !URI_TEXT.test(uri)) return undefined;
  const end = uri.indexOf('?');
  const path = end < 0 ? uri.slice(ROOT.length) : uri.slice(ROOT.length, end);
  const query = end < 0 ? undefined : uri.slice(end + 1);
  const [kind, name = '', list, ...more] = path.split('/');
  const named = decode(name);
  if (named === undefined || more.length > 0) return undefined;
  if (kind === 'tool' && list === undefined) return toolAddress(named, query);
  const page = pageOf(query);
  if (page === undefined) return undefined;
  if (kind === 'tenant' && list === 'available') return { kind: 'tenant-available', tenantId: named, page };
  if (kind === 'agent' && list === 'enabled') return { kind: 'agent-enabled', agentDid: named, page };
  if (kind === 'agent' && list === 'unavailable') return { kind: 'agent-unavailable', agentDid: named, page };
  return undefined;
}

function toolAddress(toolId: string, query: string | undefined): Address | undefined {
  if (query === undefined) return { kind: 'tool', toolId };
  const version = query.startsWith('version=') ? decode(query.slice('version='.length)) : undefined;
  return version === undefined ? undefined : { kind: 'tool', toolId, version };
}

function pageOf(query: string | undefined): number | undefined {
  if (query === undefined) return 1;
  const digits = /^page=([1-9][0-9]{0,6})$/.exec(query)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function pageQuery(page: number): string {
  return page === 1 ? '' : `?page=${page}`;
}

/** Simple expansion of RFC 6570 §3.2.2: percent-encodes all but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded === '' || CONTROL.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}
