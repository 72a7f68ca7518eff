import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** What one request needs of TLS. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

/** One context of a kubeconfig. */
export interface Kubeconfig {
  readonly server: URL;
  readonly namespace?: string;
  readonly token?: string;
  /** Read for each use; it may be rotated. */
  readonly tokenFile?: string;
  tls(): Promise<TlsMaterial>;
}

type Entry = Readonly<Record<string, unknown>>;

/** Options that would weaken the connection, or start a program outside any sandbox. */
const REFUSED_CLUSTER: Readonly<Record<string, string>> = {
  'insecure-skip-tls-verify': 'give certificate-authority instead',
  'proxy-url': 'the driver uses no proxy',
};
const REFUSED_USER: Readonly<Record<string, string>> = {
  exec: 'the layer starts no program for it; give tokenFile or a client certificate',
  'auth-provider': 'give tokenFile or a client certificate',
  username: 'give tokenFile or a client certificate',
  as: 'impersonation is not supported',
};

/**
 * Reads one context of a kubeconfig file: server, authority, and a token, a token file or a client certificate.
 * @param context default: `current-context`
 * @throws Error with a sentence that says what the file lacks or what is not supported
 */
export async function readKubeconfig(path: string, context?: string): Promise<Kubeconfig> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(`The kubeconfig ${path} cannot be read.`, { cause });
  });
  const whole = entryOf(parseYaml(text, path));
  const wanted = context ?? textOf(whole['current-context']);
  const chosen = named(whole, 'contexts', 'context', wanted, path);
  const cluster = named(whole, 'clusters', 'cluster', textOf(chosen['cluster']), path);
  const user = named(whole, 'users', 'user', textOf(chosen['user']), path);
  refuse(cluster, REFUSED_CLUSTER, path);
  refuse(user, REFUSED_USER, path);
  const folder = dirname(resolve(path));
  const namespace = textOf(chosen['namespace']);
  const token = textOf(user['token']);
  const tokenFile = textOf(user['tokenFile']);
  return {
    server: serverOf(cluster, path),
    ...(namespace === undefined ? {} : { namespace }),
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(folder, tokenFile) }),
    tls: () => tlsOf(cluster, user, folder),
  };
}

async function tlsOf(cluster: Entry, user: Entry, folder: string): Promise<TlsMaterial> {
  const ca = await materialOf(cluster, 'certificate-authority', folder);
  const cert = await materialOf(user, 'client-certificate', folder);
  const key = await materialOf(user, 'client-key', folder);
  const servername = textOf(cluster['tls-server-name']);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}

/** Either in the file, as base64, or in a file beside it. */
async function materialOf(entry: Entry, name: string, folder: string): Promise<string | undefined> {
  const inside = textOf(entry[`${name}-data`]);
  if (inside !== undefined) return Buffer.from(inside, 'base64').toString('utf8');
  const path = textOf(entry[name]);
  return path === undefined ? undefined : readFile(resolve(folder, path), 'utf8');
}

function serverOf(cluster: Entry, path: string): URL {
  const text = textOf(cluster['server']) ?? '';
  const server = URL.canParse(text) ? new URL(text) : undefined;
  if (server?.protocol !== 'https:') throw new Error(`The server of the kubeconfig ${path} must be an https address.`);
  return server;
}

function named(whole: Entry, list: string, key: string, name: string | undefined, path: string): Entry {
  const entries = whole[list];
  const found = Array.isArray(entries) ? entries.map(entryOf).find((entry) => entry['name'] === name) : undefined;
  if (name === undefined || found === undefined) {
    throw new Error(`The kubeconfig ${path} has no ${key} ${JSON.stringify(name ?? '(none is current)')}.`);
  }
  return entryOf(found[key]);
}

function refuse(entry: Entry, refused: Readonly<Record<string, string>>, path: string): void {
  const name = Object.keys(refused).find(
    (key) => entry[key] !== undefined && entry[key] !== false && entry[key] !== '',
  );
  if (name !== undefined) throw new Error(`The kubeconfig ${path} uses ${name}: ${refused[name]}.`);
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (cause) {
    // Without the parser's message: it quotes lines of the file.
    throw new Error(`The kubeconfig ${path} is not YAML.`, { cause: cause instanceof Error ? cause.name : undefined });
  }
}

function entryOf(value: unknown): Entry {
  return typeof value === 'object' && value !== null ? (value as Entry) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
