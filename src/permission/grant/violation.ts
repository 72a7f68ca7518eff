import type { ErrorCode } from '../../domain/error/catalogue.ts';

/** One thing that a tool wants and may not have. */
export interface Violation {
  readonly code: ErrorCode;
  /** What was wanted, in short. */
  readonly wanted: string;
  /** Safe for the caller; says what to change. */
  readonly message: string;
}
