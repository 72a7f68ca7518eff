import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { Fault } from '../../../../api/schemas/error.ts';

/** A fault of our catalogue; `hint` says what to change. */
export function faultAt(path: string, code: ErrorCode, keyword: string, message: string, hint?: string): Fault {
  return hint === undefined ? { path, code, keyword, message } : { path, code, keyword, message, hint };
}
