/** Path of the gateway to one upstream; its name follows. */
const SERVERS_PATH = '/mcp/servers/';

/** The upstream that the address of a request names; undefined for the address of all of them. */
export function serverNameIn(url: string | undefined): string | undefined {
  if (url?.startsWith(SERVERS_PATH) !== true) return undefined;
  const [path = ''] = url.slice(SERVERS_PATH.length).split('?', 1);
  // Names of upstreams hold nothing that is encoded in a path.
  return path;
}
