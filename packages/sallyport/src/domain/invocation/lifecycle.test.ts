import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { LifecycleState } from '../../../api/schemas/invocation.ts';
import { isFinal, isLegalTransition, stateAfterFailure, statusOf, TRANSITIONS } from './lifecycle.ts';

const STATES = LifecycleState.enum;

/** All legal transitions as literals; they repeat the table under test on purpose. */
const LEGAL = new Set([
  'DECLARED>VALIDATED',
  'DECLARED>FAILED',
  'DECLARED>DENIED',
  'DECLARED>ABORTED',
  'VALIDATED>AUTHORIZED',
  'VALIDATED>FAILED',
  'VALIDATED>DENIED',
  'VALIDATED>ABORTED',
  'AUTHORIZED>EXECUTING',
  'AUTHORIZED>COMPLETED',
  'AUTHORIZED>FAILED',
  'AUTHORIZED>DENIED',
  'AUTHORIZED>ABORTED',
  'EXECUTING>COMPLETED',
  'EXECUTING>FAILED',
  'EXECUTING>ABORTED',
  'EXECUTING>ROLLED_BACK',
  'ABORTED>ROLLED_BACK',
]);

const PAIRS = STATES.flatMap((from) => STATES.map((to) => [from, to] as const));
const failed = (code: ErrorCode) => failure(code, 'It failed.');

describe('PIPE-01 the lifecycle of an invocation', () => {
  test('PIPE-01.1 has exactly the nine states of the contract', () => {
    expect(Object.keys(TRANSITIONS)).toEqual([...STATES]);
    expect(STATES).toHaveLength(9);
  });

  test.each(PAIRS.filter(([from, to]) => LEGAL.has(`${from}>${to}`)))('%s may become %s', (from, to) => {
    expect(isLegalTransition(from, to)).toBe(true);
  });

  test.each(PAIRS.filter(([from, to]) => !LEGAL.has(`${from}>${to}`)))('PIPE-01.2 %s never becomes %s', (from, to) => {
    expect(isLegalTransition(from, to)).toBe(false);
  });

  test('is over in five states, from which nothing starts again', () => {
    const final = STATES.filter(isFinal);
    expect(final).toEqual(['COMPLETED', 'FAILED', 'DENIED', 'ABORTED', 'ROLLED_BACK']);
    for (const state of final) expect(TRANSITIONS[state].every(isFinal)).toBe(true);
  });

  test('never executes what was not validated and authorised', () => {
    const origins = (to: LifecycleState) => STATES.filter((from) => isLegalTransition(from, to));
    expect(origins('EXECUTING')).toEqual(['AUTHORIZED']);
    expect(origins('AUTHORIZED')).toEqual(['VALIDATED']);
    expect(origins('VALIDATED')).toEqual(['DECLARED']);
    expect(origins('DECLARED')).toEqual([]);
  });

  test.each<[ErrorCode, LifecycleState, string]>([
    ['E3001', 'FAILED', 'error'],
    ['E3509', 'FAILED', 'error'],
    ['E3103', 'ABORTED', 'timeout'],
    ['E3805', 'ABORTED', 'cancelled'],
    ['E3811', 'ABORTED', 'cancelled'],
    ['E3804', 'ABORTED', 'error'],
    ['E3201', 'DENIED', 'permission_denied'],
    ['E3210', 'DENIED', 'permission_denied'],
    ['E3211', 'DENIED', 'permission_denied'],
    ['E3603', 'DENIED', 'permission_denied'],
    ['E3806', 'DENIED', 'pending_approval'],
    ['E3807', 'DENIED', 'permission_denied'],
    ['E3808', 'DENIED', 'timeout'],
    ['E3307', 'FAILED', 'error'],
    ['E3306', 'FAILED', 'error'],
    ['E3900', 'FAILED', 'error'],
  ])('a call that ends with %s is %s and shows as %s', (code, state, status) => {
    expect(stateAfterFailure(failed(code))).toBe(state);
    expect(statusOf(state, failed(code))).toBe(status);
  });

  test.each([
    ['DECLARED', 'pending'],
    ['VALIDATED', 'pending'],
    ['AUTHORIZED', 'pending'],
    ['EXECUTING', 'running'],
    ['COMPLETED', 'success'],
    ['FAILED', 'error'],
    ['DENIED', 'error'],
    ['ABORTED', 'error'],
    ['ROLLED_BACK', 'error'],
  ] as const)('%s without a failure shows as %s', (state, status) => {
    expect(statusOf(state)).toBe(status);
  });

  test('PIPE-13 a call with an unknown outcome shows how it was cut off, and never as denied', () => {
    const cutOff = (code: ErrorCode) => failure('E3804', 'Not known.', { details: { cut_off_by: code } });
    expect(statusOf('ABORTED', cutOff('E3103'))).toBe('timeout');
    expect(statusOf('ABORTED', cutOff('E3805'))).toBe('cancelled');
    expect(statusOf('ABORTED', cutOff('E3107'))).toBe('error');
    expect(statusOf('ABORTED', failed('E3804'))).toBe('error');
  });

  test('a rolled back call shows why', () => {
    expect(statusOf('ROLLED_BACK', failed('E3103'))).toBe('timeout');
    expect(statusOf('ROLLED_BACK', failed('E3501'))).toBe('error');
  });
});
