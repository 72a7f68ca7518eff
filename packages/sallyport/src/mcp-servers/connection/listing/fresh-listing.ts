import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { HideSecrets } from '../../../external/hide-secrets.ts';
import { callFailure, neverLeft } from '../call-failures.ts';

/** Limits of one call's wait for a listing. */
export interface ListingWait {
  readonly signal?: AbortSignal | undefined;
  /** ms */
  readonly timeoutMs?: number | undefined;
}

/**
 * Listings for calls: each call waits for a listing that began after the call arrived; calls of the same moment share
 * one.
 * @param list asks the server and takes its list over
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
    // The running listing may already be answered: it does not show the present state.
    if (running === undefined) return within(begin(), wait);
    next ??= running.then(begin, begin);
    return within(next, wait);
  };
}

/** Other calls may still wait for the listing that this call gives up on. */
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
 * The error of a call whose tool could not be compared with the accepted definition; the tool was not called. A lost
 * connection is reported as such, so that another one is tried.
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

/** As above, in the middle of a call: the server asked for input before, and may have acted already. */
export async function inMidCall(check: () => Promise<void> | undefined): Promise<void> {
  try {
    await check();
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError)) throw thrown;
    const { code, message, failure } = thrown;
    throw new ToolLayerError(code, message, { ...failure, details: { ...failure.details, reached: true } });
  }
}
