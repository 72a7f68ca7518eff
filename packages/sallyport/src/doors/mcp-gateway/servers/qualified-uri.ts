/**
 * URIs under which a resource is addressed together with its upstream: `sallyport://servers/NAME/` and then the URI as
 * its server gives it. It is not encoded again, so that a template stays a template and whatever a client fills in
 * arrives as it would at the server. Hosts of MCP Apps accept `ui:` only, so those keep their scheme.
 */
const PREFIX = 'sallyport://servers/';
const UI_SCHEME = 'ui:';
const UI_PREFIX = 'ui://sallyport/';

/** A URI of a server, with the name of the upstream. */
export interface ServerUri {
  readonly upstream: string;
  readonly uri: string;
}

/** The URI, or template, of a resource together with its upstream. */
export function qualifiedUri({ upstream, uri }: ServerUri): string {
  return `${uri.startsWith(UI_SCHEME) ? UI_PREFIX : PREFIX}${upstream}/${uri}`;
}

/** The parts of a qualified URI; undefined for any other. */
export function serverUriIn(uri: string): ServerUri | undefined {
  const prefix = [PREFIX, UI_PREFIX].find((each) => uri.startsWith(each));
  if (prefix === undefined) return undefined;
  const end = uri.indexOf('/', prefix.length);
  return end < 0 ? undefined : { upstream: uri.slice(prefix.length, end), uri: uri.slice(end + 1) };
}
