import type { ErrorCode } from '@sallyport/std/error/catalogue';

/** One permission that a tool wants and may not have. */
export interface Violation {
  readonly code: ErrorCode;
  /** The wanted permission, in short form. */
  readonly wanted: string;
  /**
   * What that side allows, in the same form: the maximum of a limit, or the first paths or addresses. Absent when there
   * is no list.
   */
  readonly allowed?: readonly string[];
  /** The member of `resource_limits` that was exceeded. */
  readonly limit?: string;
  /** Message that is safe for the caller; says what to change. */
  readonly message: string;
}
