/** Path of the gateway to one upstream; its name follows. */
const SERVERS_PATH = '/mcp/servers/';
/** Form of the name of an upstream. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,39}$/;

/** The upstream that the address of a request names; undefined for the address of all of them. */
export function serverNameIn(url: string | undefined): string | undefined {
  if (url?.startsWith(SERVERS_PATH) !== true) return undefined;
  const [path = ''] = url.slice(SERVERS_PATH.length).split('?', 1);
  // Names of upstreams hold nothing that is encoded in a path.
  return path;
}

/**
 * The upstream whose own address a request came to, where its name is well-formed; whether there is such an upstream
 * shows only to those who may use it.
 */
export function addressedServer(url: string | undefined): string | undefined {
  const name = serverNameIn(url);
  return name !== undefined && NAME.test(name) ? name : undefined;
}

/** Path of the address of one upstream. */
export const pathOfServer = (name: string): string => SERVERS_PATH + name;
