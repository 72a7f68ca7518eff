import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { AttemptEnd } from './circuit.ts';

/**
 * What a failed attempt says of the service that it went to. Not listed, and so `nothing`: what the layer or the caller is
 * to blame for (arguments, rights, approvals, limits, a cancel), and a service that allows no more calls at the moment.
 */
const COUNTS: Partial<Record<ErrorCode, AttemptEnd>> = {
  E3103: 'failure', // it did not end in time
  E3107: 'failure', // its server ended
  E3304: 'failure', // 5xx
  E3306: 'failure', // it did not answer in time
  E3308: 'failure', // what it sent cannot be read
  E3310: 'failure', // it cannot be reached
  E3108: 'answered', // its program ended with an error
  E3109: 'answered', // it reported an error
  E3307: 'answered', // 401 and 403
  E3309: 'answered', // other 4xx
};

/**
 * What a failed attempt counts as (CIR-01).
 * @param patienceMs a timeout that came sooner is the caller's own, who gave too little time
 */
export function countsAs(code: ErrorCode, durationMs: number, patienceMs: number): AttemptEnd {
  if (code === 'E3103' && durationMs < patienceMs) return 'nothing';
  return COUNTS[code] ?? 'nothing';
}
