import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { AttemptEnd } from './circuit.ts';

/**
 * What a failed attempt says about the service that it called. Codes that are not listed count as `nothing`: faults of
 * the layer or the caller (arguments, rights, approvals, limits, a cancel), and a service that allows no more calls at
 * the moment.
 */
const COUNTS: Partial<Record<ErrorCode, AttemptEnd>> = {
  E3103: 'failure', // no answer within the timeout
  E3107: 'failure', // its server ended
  E3304: 'failure', // 5xx
  E3306: 'failure', // no answer in time
  E3308: 'failure', // unreadable answer
  E3310: 'failure', // unreachable
  E3108: 'answered', // a program that ended with an error
  E3109: 'answered', // an error that it reported
  E3307: 'answered', // 401 and 403
  E3309: 'answered', // other 4xx
};

/**
 * How a failed attempt counts (CIR-01).
 * @param patienceMs a timeout shorter than this is due to the caller, who gave too little time
 */
export function countsAs(code: ErrorCode, durationMs: number, patienceMs: number): AttemptEnd {
  if (code === 'E3103' && durationMs < patienceMs) return 'nothing';
  return COUNTS[code] ?? 'nothing';
}
