import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import type { Connection } from '../connection/connection.ts';
import { KUBERNETES_SIZES, type KubernetesBounds } from '../settings.ts';
import { ApiFault, isPassing, isStatus } from './api-fault.ts';
import type { Status } from './objects.ts';

/** One request that is answered with one object. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A small client of the Kubernetes API. All methods reject with `ApiFault`. */
export interface ApiClient {
  readonly namespace: string;
  /** One attempt, limited in time and size. After a refusal the token is read again once. */
  once<Answer>(request: ApiRequest): Promise<Answer>;
  /** Retries temporary failures (no answer, 409, 429, 5xx); the request must be repeatable. */
  send<Answer>(request: ApiRequest): Promise<Answer>;
  /** Opens an endless answer. */
  stream(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage>;
  /** Lets `open` make a connection that is upgraded from HTTP, with the credentials in its options. */
  upgrade<Opened>(
    path: string,
    query: URLSearchParams,
    open: (url: URL, options: RequestOptions) => Promise<Opened>,
  ): Promise<Opened>;
  /** Ends connections that wait for the next request. */
  close(): void;
}

/** Connections that are kept for the next request. */
const SOCKETS_MAX = 64;

export function createApiClient(connection: Connection, bounds: KubernetesBounds): ApiClient {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, scheduling: 'lifo' });
  // A kept-alive connection may be dead, and an upgrade is not retried. TLS sessions are resumed all the same.
  const upgrading = new Agent({ keepAlive: false });
  const options = (path: string, extra: RequestOptions, fresh: boolean): Promise<RequestOptions> =>
    optionsOf(connection, agent, path, extra, fresh);
  /** Refused credentials may have been rotated a moment ago. */
  const withCredentials = async <Answer>(go: (fresh: boolean) => Promise<Answer>): Promise<Answer> => {
    try {
      return await go(false);
    } catch (error) {
      if (!isStatus(error, 401)) throw error;
      return go(true);
    }
  };
  const once = <Answer>({ method, path, query = {}, body }: ApiRequest): Promise<Answer> =>
    withCredentials(async (fresh) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const signal = AbortSignal.timeout(bounds.requestTimeoutMs);
      const headers = text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const chosen = await options(withQuery(path, query), { method, signal, headers }, fresh);
      const answer = await responseTo(httpsRequest(chosen), text);
      return (await objectOf(answer)) as Answer;
    });
  return {
    namespace: connection.namespace,
    once,
    async send(request) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await once(request);
        } catch (error) {
          if (!isPassing(error) || tries >= bounds.requestTries) throw error;
          const pause = bounds.retryPauseMs * 2 ** (tries - 1);
          await sleep(Math.min(Math.max(pause, error.retryAfterMs ?? 0), bounds.requestTimeoutMs));
        }
      }
    },
    stream: (path, query, signal) =>
      withCredentials(async (fresh) => {
        const answer = await responseTo(
          httpsRequest(await options(withQuery(path, query), { signal }, fresh)),
          undefined,
        );
        if (answer.statusCode !== 200) await objectOf(answer);
        return answer;
      }),
    upgrade: (path, query, open) =>
      withCredentials(async (fresh) => {
        const chosen = await options(`${path}?${query}`, { agent: upgrading }, fresh);
        return open(new URL(chosen.path ?? path, connection.server), chosen);
      }),
    close() {
      agent.destroy();
      upgrading.destroy();
    },
  };
}

async function optionsOf(
  connection: Connection,
  agent: Agent,
  path: string,
  extra: RequestOptions,
  fresh: boolean,
): Promise<RequestOptions> {
  const { tls, token } = await connection.credentials(fresh);
  const base = connection.server;
  return {
    agent,
    hostname: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port === '' ? 443 : base.port,
    path: `${base.pathname.replace(/\/$/, '')}${path}`,
    ...tls,
    ...extra,
    headers: {
      accept: 'application/json',
      'user-agent': 'sallyport',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...extra.headers,
    },
  };
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

function responseTo(request: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  request.on('error', (cause) => reject(unreachable(cause)));
  request.end(body);
  return promise;
}

/** The error for an answer that should have been an upgrade. */
export function refusalOf(answer: IncomingMessage): Promise<ApiFault> {
  return objectOf(answer).then(
    () => new ApiFault('it did not upgrade the connection', { status: 500 }),
    (fault: ApiFault) => fault,
  );
}

/** Reads the answer's object within limits. A status of 400 or more rejects. */
async function objectOf(answer: IncomingMessage): Promise<unknown> {
  const status = answer.statusCode ?? 0;
  const text = await textOf(answer);
  const value = parsed(text);
  if (status >= 200 && status < 300) {
    if (value === undefined) throw new ApiFault('the answer is no JSON object', { status: 502 });
    return value;
  }
  const { message, reason, details } = (value ?? {}) as Status;
  const seconds = Number(answer.headers['retry-after'] ?? details?.retryAfterSeconds);
  throw new ApiFault(typeof message === 'string' ? message : `status ${status}`, {
    status,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > KUBERNETES_SIZES.answerBytesMax) throw new ApiFault('the answer is too large', { status: 502 });
      parts.push(part);
    }
  } catch (cause) {
    throw cause instanceof ApiFault ? cause : unreachable(cause);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A request that got no answer. */
export function unreachable(cause: unknown): ApiFault {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return new ApiFault(code ?? messageOf(cause), { cause });
}
