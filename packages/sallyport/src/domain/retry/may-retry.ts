import type { FailureType } from '@sallyport/std/error/catalogue';
import { entryOf, type Failure } from '@sallyport/std/error/failure';
import type { ToolErrorCategory } from '../../../api/schemas/error.ts';
import { surelyNotReached } from './cut-off.ts';

/** What 002 lets a layer try again by itself. */
const CATEGORIES: ReadonlySet<ToolErrorCategory> = new Set(['RateLimited', 'ServerError', 'NetworkError', 'Timeout']);

/** 001 §7.1 and §7.3: never what the request, the caller's rights or the state are to blame for. */
const TYPES: ReadonlySet<FailureType> = new Set(['ResourceError', 'TimeoutError', 'ExecutionError']);

/** Whether the same call may succeed a little later without a change. An open circuit is not asked again and again. */
export function isTransient({ code }: Pick<Failure, 'code'>): boolean {
  const { retryable, category, failure, wire } = entryOf(code);
  return retryable && CATEGORIES.has(category) && TYPES.has(failure) && wire !== 'circuit_breaker_open';
}

/** What decides beside the failure itself. */
export interface RetryTerms {
  /** Running the tool twice is as good as once, in the word of its manifest and of its executor. */
  readonly safeToRepeat: boolean;
  /** E-codes, wire codes or categories; others are not tried again. All that are transient when absent. */
  readonly onlyErrors?: readonly string[];
}

/**
 * Whether a failed attempt may be followed by another: category × side effects × what surely did not reach the tool
 * (PIPE-05). A tool that is not safe to repeat is tried again only when it surely has not been reached.
 */
export function mayRetry(failed: Failure, { safeToRepeat, onlyErrors }: RetryTerms): boolean {
  // What an operator switched off stays so until he switches it on.
  if (!isTransient(failed) || failed.details?.['disabled'] === true) return false;
  if (!safeToRepeat && !surelyNotReached(failed)) return false;
  if (onlyErrors === undefined) return true;
  const { wire, category } = entryOf(failed.code);
  return onlyErrors.includes(failed.code) || onlyErrors.includes(wire) || onlyErrors.includes(category);
}
