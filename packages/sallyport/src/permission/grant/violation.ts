import type { ErrorCode } from '@sallyport/std/error/catalogue';

/** One thing that a tool wants and may not have. */
export interface Violation {
  readonly code: ErrorCode;
  /** What was wanted, in short. */
  readonly wanted: string;
  /** What that side allows, in the same form: a limit's most, or the first paths or addresses. Absent where there is no list. */
  readonly allowed?: readonly string[];
  /** The member of `resource_limits` that was exceeded. */
  readonly limit?: string;
  /** Safe for the caller; says what to change. */
  readonly message: string;
}
