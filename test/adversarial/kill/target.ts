import type { LayerReady } from './layer-process.ts';

/** The layer as clients see it: sometimes up, and at another URL after each start. */
export interface Target {
  /** Resolves when the layer is up. */
  up(): Promise<LayerReady>;
  /** Sets that the layer is up. */
  is(ready: LayerReady): void;
  /** Sets that the layer is down. */
  gone(): void;
}

/** The layer is down at first. */
export function createTarget(): Target {
  let now = Promise.withResolvers<LayerReady>();
  let isThere = false;
  return {
    up: () => now.promise,
    is(ready) {
      isThere = true;
      now.resolve(ready);
    },
    gone() {
      // A client that waits already keeps waiting on the same promise.
      if (isThere) now = Promise.withResolvers<LayerReady>();
      isThere = false;
    },
  };
}

/** An answer over REST. */
export interface Answer {
  readonly http: number;
  readonly body: {
    readonly invocation_id?: string;
    readonly status?: string;
    readonly result?: unknown;
    readonly error?: { readonly e_code: string; readonly message: string };
    readonly approval?: { readonly approval_id: string };
    readonly execution_metadata?: { readonly attempts: number; readonly started_at?: string };
    readonly warnings?: readonly { readonly code: string; readonly details?: Readonly<Record<string, unknown>> }[];
    /** Present in the status of a call whose outcome was unknown and is settled. */
    readonly settlement?: { readonly outcome: string; readonly how: string; readonly settled_at: string };
    /** Present in a list of calls whose outcome is unknown. */
    readonly outcomes?: readonly { readonly invocation_id: string }[];
    /** Present in problem details. */
    readonly e_code?: string;
    readonly detail?: string;
  };
}

/** Longest wait for one answer, in ms. */
const ANSWER_MS = 60_000;

/**
 * Sends one request to the layer.
 * @param breaksAfterMs after how many ms the client gives the connection up; 0 when it waits for the answer
 * @returns undefined when the connection was lost or refused
 */
export async function askOnce(
  { url }: LayerReady,
  credential: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  breaksAfterMs = 0,
): Promise<Answer | undefined> {
  const breaks = breaksAfterMs > 0 ? AbortSignal.timeout(breaksAfterMs) : undefined;
  const late = AbortSignal.timeout(ANSWER_MS);
  const signal = breaks === undefined ? late : AbortSignal.any([late, breaks]);
  try {
    const response = await fetch(url + path, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { http: response.status, body: (await response.json()) as Answer['body'] };
  } catch (thrown) {
    if (late.aborted) throw new Error(`${method} ${path} was not answered in ${ANSWER_MS} ms`, { cause: thrown });
    return undefined;
  }
}
