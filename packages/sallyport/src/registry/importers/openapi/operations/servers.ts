import { asList, asNode, asText, type Node } from '../document/json.ts';
import { NotImportable } from '../document/not-importable.ts';

/** Servers of one list that are looked at. */
const SERVERS_MAX = 100;
/** Longest address of a server, in characters. */
const URL_CHARS_MAX = 4096;

/** Server that receives the operations of a document. */
export interface Server {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly host: string;
  readonly port: number;
}

/**
 * The first server of the innermost list that is not empty: operation, path, document. Variables take their defaults.
 * @throws NotImportable when it is no absolute http or https address
 */
export function serverOf(operation: Node, path: Node, root: Node): Server {
  const lists = [operation['servers'], path['servers'], root['servers']].map(asList);
  const servers = (lists.find((list) => list.length > 0) ?? [])
    .slice(0, SERVERS_MAX)
    .map(asNode)
    .filter((server) => server !== undefined);
  const urls = servers.map(urlOf);
  const usable = urls.find((url) => /^https?:\/\//i.test(url)) ?? urls[0] ?? '/';
  const server = parseServer(usable);
  if (server !== undefined) return server;
  throw new NotImportable(
    `the document names no absolute http address for it (it says ${JSON.stringify(usable.slice(0, 120))}); give one with --base-url`,
  );
}

/** Parses an absolute address; undefined when invalid or very long, or with credentials, a query or a fragment. */
export function parseServer(url: string): Server | undefined {
  if (url.length > URL_CHARS_MAX) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return undefined;
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') return undefined;
  if (/[{}]|%7b|%7d/i.test(parsed.href)) return undefined;
  const port = parsed.port === '' ? (parsed.protocol === 'https:' ? 443 : 80) : Number(parsed.port);
  return {
    baseUrl: parsed.href.replace(/\/+$/, ''),
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port,
  };
}

function urlOf(server: Node): string {
  const variables = asNode(server['variables']) ?? {};
  // One character more than an address may have, so that none that is cut is used.
  const cut = (text: string): string => text.slice(0, URL_CHARS_MAX + 1);
  return cut(asText(server['url']) ?? '/').replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? asNode(variables[name]) : undefined;
    const value = variable?.['default'] ?? asList(variable?.['enum'])[0];
    return value === undefined ? whole : cut(String(value));
  });
}
