import { readFile } from 'node:fs/promises';
import { KUBERNETES_SIZES } from '../settings.ts';
import { type Kubeconfig, readKubeconfig, type TlsMaterial } from './kubeconfig.ts';

/** Connection to an API server. */
export interface Connection {
  /** `https:` only. */
  readonly server: URL;
  readonly namespace: string;
  /**
   * The current token and certificates; files are read again after a minute, since service account tokens are rotated.
   * @param fresh read them again now, after a refusal
   */
  credentials(fresh?: boolean): Promise<{ readonly tls: TlsMaterial; readonly token?: string }>;
}

/** Where the connection is read from. */
export interface ConnectionSource {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: where Kubernetes mounts it. */
  readonly serviceAccountFolder?: string;
}

const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** As in Kubernetes' own clients: tokens live for an hour at least, and are rotated long before their end. */
const REREAD_AFTER_MS = 60_000;

/**
 * Finds the API server: by the kubeconfig when one is named, otherwise by the service account of the pod.
 * @throws Error with a sentence for the operator
 */
export async function openConnection(source: ConnectionSource): Promise<Connection> {
  if (source.kubeconfig !== undefined)
    return ofKubeconfig(await readKubeconfig(source.kubeconfig, source.context), source);
  return ofServiceAccount(source);
}

async function ofServiceAccount(source: ConnectionSource): Promise<Connection> {
  const environment = source.environment ?? process.env;
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') {
    throw new Error(
      'No Kubernetes API server is known: the layer runs in no pod (KUBERNETES_SERVICE_HOST is not set). Name a kubeconfig file in sandbox.kubernetes.kubeconfig.',
    );
  }
  const folder = source.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER;
  const read = (name: string): Promise<string> => readText(`${folder}/${name}`);
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: source.namespace ?? (await read('namespace')).trim(),
    credentials: remembered(async () => {
      const [ca, token] = await Promise.all([read('ca.crt'), read('token')]);
      return { tls: { ca }, token: token.trim() };
    }),
  };
}

function ofKubeconfig({ server, tls, token, tokenFile, namespace }: Kubeconfig, source: ConnectionSource): Connection {
  return {
    server,
    namespace: source.namespace ?? namespace ?? 'default',
    credentials: remembered(async () => {
      const given = tokenFile === undefined ? token : (await readText(tokenFile)).trim();
      return { tls: await tls(), ...(given === undefined ? {} : { token: given }) };
    }),
  };
}

type Credentials = Awaited<ReturnType<Connection['credentials']>>;

function remembered(read: () => Promise<Credentials>): Connection['credentials'] {
  let known: { readonly at: number; readonly value: Promise<Credentials> } | undefined;
  return async (fresh = false) => {
    const now = performance.now();
    if (known === undefined || fresh || now - known.at > REREAD_AFTER_MS) known = { at: now, value: read() };
    const asked = known;
    try {
      return await asked.value;
    } catch (error) {
      if (known === asked) known = undefined;
      throw error;
    }
  };
}

/** A small file of text. */
export async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(`The file ${path} cannot be read.`, { cause });
  });
  if (text.length > KUBERNETES_SIZES.tokenBytesMax)
    throw new Error(`The file ${path} is too large to be what it should be.`);
  return text;
}
