import type { LayerReady } from './layer-process.ts';

/** The layer as clients know it: there at times, and somewhere else after each start. */
export interface Target {
  /** Resolves when there is one. */
  up(): Promise<LayerReady>;
  /** It can be asked. */
  is(ready: LayerReady): void;
  /** It is gone. */
  gone(): void;
}

/** Nobody is there at first. */
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
      // Whoever waits for it already goes on waiting.
      if (isThere) now = Promise.withResolvers<LayerReady>();
      isThere = false;
    },
  };
}

/** What REST answered. */
export interface Answer {
  readonly http: number;
  readonly body: {
    readonly invocation_id?: string;
    readonly status?: string;
    readonly result?: unknown;
    readonly error?: { readonly e_code: string; readonly message: string };
    readonly approval?: { readonly approval_id: string };
    readonly execution_metadata?: { readonly attempts: number };
    /** Of a list of calls whose outcome is not known. */
    readonly outcomes?: readonly { readonly invocation_id: string }[];
    /** Of problem details. */
    readonly e_code?: string;
    readonly detail?: string;
  };
}

/** Longest wait for one answer, in ms. */
const ANSWER_MS = 60_000;

/**
 * Asks the layer once.
 * @param breaksAfterMs the client gives the connection up after so many ms; 0 when it waits for the answer
 * @returns undefined when the connection was lost, or there was none
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
