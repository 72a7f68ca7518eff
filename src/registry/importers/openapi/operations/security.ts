import type { HttpAuth } from '../../../http-operation.ts';
import { asList, asNode, asText, membersOf, type Node } from '../document/json.ts';
import { follow } from '../document/reference.ts';
import { secretName } from './names.ts';

/** What an operation asks for, and why it cannot be given where it cannot. */
export interface OperationAuth {
  readonly auth: readonly HttpAuth[];
  readonly notCallable?: string;
}

/**
 * The credentials of an operation. A document lists alternatives: the first that can be met is taken; where one of them
 * asks for nothing, nothing is sent.
 */
export function authOf(operation: Node, root: Node, source: string): OperationAuth {
  const alternatives = asList(operation['security'] ?? root['security'])
    .map(asNode)
    .filter((one) => one !== undefined);
  if (alternatives.length === 0 || alternatives.some((one) => membersOf(one).length === 0)) return { auth: [] };
  const schemes = asNode(asNode(root['components'])?.['securitySchemes']) ?? {};
  const made = alternatives.map((alternative) =>
    membersOf(alternative).map(([name]) => credential(root, schemes, name, source)),
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

/** The credential of one scheme, or the words for what cannot be sent. */
function credential(root: Node, schemes: Node, name: string, source: string): HttpAuth | string {
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
    case 'openIdConnect':
      return { type: 'bearer', secret };
    default:
      return scheme === undefined
        ? `the undeclared security scheme ${name.slice(0, 40)}`
        : String(scheme['type']).slice(0, 40);
  }
}

function apiKey(scheme: Node, secret: string): HttpAuth | string {
  const name = asText(scheme['name']);
  const place = scheme['in'];
  if (name === undefined || (place !== 'header' && place !== 'query' && place !== 'cookie'))
    return 'an API key without a place';
  return { type: 'api_key', in: place, name, secret };
}
