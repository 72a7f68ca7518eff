import type { FailureType } from '@sallyport/std/error/catalogue';
import { entryOf, type Failure } from '@sallyport/std/error/failure';
import type { ToolErrorCategory } from '../../../api/schemas/error.ts';
import { surelyNotReached } from './cut-off.ts';

/** Categories that 002 lets a layer retry by itself. */
const CATEGORIES: ReadonlySet<ToolErrorCategory> = new Set(['RateLimited', 'ServerError', 'NetworkError', 'Timeout']);

/** 001 §7.1 and §7.3: never faults of the request, the caller's rights or the state. */
const TYPES: ReadonlySet<FailureType> = new Set(['ResourceError', 'TimeoutError', 'ExecutionError']);

/** True when the same call may succeed a little later without a change. An open circuit is not retried. */
export function isTransient({ code }: Pick<Failure, 'code'>): boolean {
  const { retryable, category, failure, wire } = entryOf(code);
  return retryable && CATEGORIES.has(category) && TYPES.has(failure) && wire !== 'circuit_breaker_open';
}

/** What decides on a retry besides the failure itself. */
export interface RetryTerms {
  /** True when running the tool twice has the same effect as once, according to its manifest and its executor. */
  readonly safeToRepeat: boolean;
  /** Statuses with which the answer of a service is transient (EXT-05). */
  readonly statusCodes: ReadonlySet<number>;
  /** E-codes, wire codes or categories that are retried; all transient ones when absent. */
  readonly onlyErrors?: readonly string[];
}

/**
 * Decides whether another attempt may follow a failed one, from category, side effects, and whether the tool was surely
 * not reached (PIPE-05). A tool that is not safe to repeat is retried only when it surely was not reached.
 */
export function mayRetry(failed: Failure, { safeToRepeat, statusCodes, onlyErrors }: RetryTerms): boolean {
  // What an operator switched off stays off until an operator switches it on.
  if (failed.details?.['disabled'] === true) return false;
  const status = failed.details?.['status'];
  if (!(typeof status === 'number' ? statusCodes.has(status) : isTransient(failed))) return false;
  if (!safeToRepeat && !surelyNotReached(failed)) return false;
  if (onlyErrors === undefined) return true;
  const { wire, category } = entryOf(failed.code);
  return onlyErrors.includes(failed.code) || onlyErrors.includes(wire) || onlyErrors.includes(category);
}
