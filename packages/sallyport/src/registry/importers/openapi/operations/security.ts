import type { HttpAuth } from '../../../http-operation.ts';
import { asList, asNode, asText, membersOf, type Node } from '../document/json.ts';
import { follow } from '../document/reference.ts';
import { secretName } from './names.ts';

/** Credentials that an operation needs, or the reason why they cannot be provided. */
export interface OperationAuth {
  readonly auth: readonly HttpAuth[];
  readonly notCallable?: string;
}

/**
 * The credentials of an operation. A document lists alternatives: the first feasible one is used; when one of them
 * needs nothing, nothing is sent.
 */
export function authOf(operation: Node, root: Node, source: string): OperationAuth {
  const alternatives = asList(operation['security'] ?? root['security'])
    .map(asNode)
    .filter((one) => one !== undefined);
  if (alternatives.length === 0 || alternatives.some((one) => membersOf(one).length === 0)) return { auth: [] };
  const schemes = asNode(asNode(root['components'])?.['securitySchemes']) ?? {};
  const made = alternatives.map((alternative) =>
    membersOf(alternative).map(([name, scopes]) => credential(root, schemes, { name, scopes }, source)),
  );
  const usable = made.find((credentials) => credentials.every((one) => typeof one === 'object'));
  if (usable === undefined) {
    const reasons = made.flat().filter((one) => typeof one === 'string');
    return {
      auth: [],
      notCallable: `it needs ${[...new Set(reasons)].join(' or ').slice(0, 500)}, which cannot be sent`,
    };
  }
  return { auth: usable.filter((one) => typeof one === 'object') };
}

/** The credential of one scheme, or the reason why it cannot be sent. */
function credential(
  root: Node,
  schemes: Node,
  { name, scopes }: { readonly name: string; readonly scopes: unknown },
  source: string,
): HttpAuth | string {
  const scheme = Object.hasOwn(schemes, name) ? follow(root, schemes[name]) : undefined;
  const secret = secretName(source, name);
  switch (scheme?.['type']) {
    case 'apiKey':
      return apiKey(scheme, secret);
    case 'http': {
      const kind = String(scheme['scheme']).toLowerCase();
      return kind === 'bearer' || kind === 'basic' ? { type: kind, secret } : `the HTTP scheme ${kind.slice(0, 40)}`;
    }
    case 'oauth2':
      return clientCredentials(scheme, secret, scopes) ?? { type: 'bearer', secret };
    case 'openIdConnect':
      return { type: 'bearer', secret };
    default:
      return scheme === undefined
        ? `the undeclared security scheme ${name.slice(0, 40)}`
        : String(scheme['type']).slice(0, 40);
  }
}

const SCOPES_MAX = 64;
const SCOPE_CHARS_MAX = 255;

/**
 * The client's own token, when no other flow is offered: where a user's token is possible it is preferable, and must be
 * in the secret store. Also undefined when the token server's address is incomplete or unsafe.
 */
function clientCredentials(scheme: Node, secret: string, scopes: unknown): HttpAuth | undefined {
  const flows = membersOf(scheme['flows']);
  const [flow] = flows;
  if (flows.length !== 1 || flow?.[0] !== 'clientCredentials') return undefined;
  const url = URL.parse(asText(asNode(flow[1])?.['tokenUrl']) ?? '');
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  const wanted = asList(scopes).filter((one): one is string => typeof one === 'string' && one !== '');
  if (url.href.length > 2048 || wanted.length > SCOPES_MAX || wanted.some((one) => one.length > SCOPE_CHARS_MAX)) {
    return undefined;
  }
  const asked = wanted.length === 0 ? {} : { scopes: wanted };
  return { type: 'oauth2_client_credentials', secret, token_url: url.href, ...asked };
}

/** Host and port of the token servers that credentials need. */
export function tokenServersOf(auth: readonly HttpAuth[]): { host: string; port: number }[] {
  return auth.flatMap((one) => {
    if (one.type !== 'oauth2_client_credentials') return [];
    const { hostname, port } = new URL(one.token_url);
    return [{ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }];
  });
}

function apiKey(scheme: Node, secret: string): HttpAuth | string {
  const name = asText(scheme['name']);
  const place = scheme['in'];
  if (name === undefined || (place !== 'header' && place !== 'query' && place !== 'cookie'))
    return 'an API key without a place';
  return { type: 'api_key', in: place, name, secret };
}
