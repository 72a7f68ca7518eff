import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { HideSecrets } from '../../../external/hide-secrets.ts';
import { callFailure, neverLeft } from '../call-failures.ts';

/** How long one call waits for a listing. */
export interface ListingWait {
  readonly signal?: AbortSignal | undefined;
  /** ms */
  readonly timeoutMs?: number | undefined;
}

/**
 * Listings that are made for calls: each call waits for one that began after it came, and calls of the same moment share one.
 * @param list asks the server and takes over what it lists
 */
export function createFreshListing(list: () => Promise<void>): (wait: ListingWait) => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    const begun = list().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return (wait) => {
    // The one that runs may have been answered already: it says nothing of this moment.
    if (running === undefined) return within(begin(), wait);
    next ??= running.then(begin, begin);
    return within(next, wait);
  };
}

/** Others may still wait for what this call gives up. */
async function within(listing: Promise<void>, { signal, timeoutMs }: ListingWait): Promise<void> {
  signal?.throwIfAborted();
  const { promise: given, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => reject(late()), timeoutMs);
  try {
    await Promise.race([listing, given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

const late = (): ToolLayerError =>
  new ToolLayerError('E3103', 'The upstream did not list its tools within the time of the call.');

/**
 * What a call ends with whose tool could not be compared with the accepted definition: the tool was not called. A connection
 * that is gone is told as such, so that another one is tried.
 */
export function unchecked(
  name: string,
  thrown: unknown,
  { signal }: ListingWait,
  hide: HideSecrets | undefined,
): unknown {
  if (neverLeft(thrown)) return thrown;
  const { code, message, failure } = callFailure(name, thrown, signal);
  const words = `${message} Its tools are listed right before a call, so the tool was not called.`;
  return new ToolLayerError(code, hide?.(words) ?? words, {
    ...failure,
    cause: thrown,
    details: { ...failure.details, reached: false },
  });
}

/** The same check in the middle of a call: the server asked for input before, and may have acted. */
export async function inMidCall(check: () => Promise<void> | undefined): Promise<void> {
  try {
    await check();
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError)) throw thrown;
    const { code, message, failure } = thrown;
    throw new ToolLayerError(code, message, { ...failure, details: { ...failure.details, reached: true } });
  }
}
