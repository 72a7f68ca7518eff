import { ERRORS, type ErrorCode, type ErrorEntry } from './catalogue.ts';
import type { ErrorCategory, WireCode } from './wire-codes.ts';

/**
 * A refusal or fault as a value. `message` is safe for the caller and says what to change; `cause` is for operators and
 * never crosses a door.
 */
export interface Failure {
  readonly failed: true;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Record<string, unknown>;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Optional members of a failure. */
export interface FailureExtras {
  readonly details?: Record<string, unknown>;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Makes a failure of a catalogue row. */
export function failure(code: ErrorCode, message: string, extras: FailureExtras = {}): Failure {
  return { failed: true, code, message, ...extras };
}

/** Distinguishes a failure from the result of a step. */
export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && (value as Partial<Failure>).failed === true;
}

/** The catalogue row of a failure. */
export function entryOf(code: ErrorCode): ErrorEntry {
  return ERRORS[code];
}

/** The one error shape of every door; a type, because its fields are made into the contract's schema elsewhere. */
export type ErrorBody = {
  code: WireCode;
  e_code: string;
  category: ErrorCategory;
  message: string;
  retryable: boolean;
  details?: Record<string, unknown>;
  retry_after_ms?: number;
};

/** The failure as sent through a door: no cause, no stack. */
export function errorBody(failed: Failure): ErrorBody {
  const entry = entryOf(failed.code);
  return {
    code: entry.wire,
    e_code: failed.code,
    category: entry.category,
    message: failed.message,
    retryable: entry.retryable,
    ...(failed.details === undefined ? {} : { details: failed.details }),
    ...(failed.retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(failed.retryAfterMs) }),
  };
}
