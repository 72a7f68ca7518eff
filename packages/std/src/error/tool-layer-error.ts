import type { ErrorCode } from './catalogue.ts';
import { type Failure, type FailureExtras, failure } from './failure.ts';

/** The one error class of the layer. Callers switch on `code`; see the catalogue for what each code means. */
export class ToolLayerError extends Error {
  readonly code: ErrorCode;
  readonly failure: Failure;

  constructor(code: ErrorCode, message: string, extras: FailureExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ToolLayerError';
    this.code = code;
    this.failure = failure(code, message, extras);
  }

  /** The error for a failure value. */
  static of(failed: Failure): ToolLayerError {
    return new ToolLayerError(failed.code, failed.message, failed);
  }
}

/** The failure in anything thrown; foreign errors become E3900, with the cause kept for operators (PIPE-04). */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof ToolLayerError) return thrown.failure;
  return failure('E3900', 'The layer failed in an unexpected way. The operator finds the cause in its log.', {
    cause: thrown,
  });
}
