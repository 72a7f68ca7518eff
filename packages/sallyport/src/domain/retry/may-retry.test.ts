import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { isCutOff, surelyNotReached } from './cut-off.ts';
import { isTransient, mayRetry } from './may-retry.ts';

const failed = (code: ErrorCode, details?: Record<string, unknown>) =>
  failure(code, 'It failed.', details === undefined ? {} : { details });
const CODES = Object.keys(ERRORS) as ErrorCode[];
const statusCodes = new Set([429, 503]);
const SAFE = { safeToRepeat: true, statusCodes };
const UNSAFE = { safeToRepeat: false, statusCodes };

describe('which failures are tried again', () => {
  test('PIPE-05.1 the transient ones, said twice', () => {
    expect(CODES.filter((code) => isTransient({ code }))).toEqual([
      ...['E3005', 'E3101', 'E3103', 'E3106', 'E3107', 'E3301', 'E3303', 'E3304', 'E3306', 'E3310'],
      ...['E3602', 'E3605', 'E3607', 'E3803', 'E3823'],
    ]);
  });

  test('PIPE-05.1 none that the request, the caller’s rights or the state are to blame for, and no cancel', () => {
    for (const code of CODES) {
      const { failure: type, wire } = ERRORS[code];
      const never = ['ValidationError', 'AuthorizationError', 'StateError'].includes(type) || wire === 'cancelled';
      if (never) expect([code, mayRetry(failed(code, { reached: false }), SAFE)]).toEqual([code, false]);
    }
  });

  test('PIPE-05.2 a tool that is not safe to repeat only when the request surely never reached it', () => {
    for (const code of CODES.filter((each) => isTransient({ code: each }) && each !== 'E3101')) {
      expect(mayRetry(failed(code), SAFE)).toBe(true);
      expect(mayRetry(failed(code), UNSAFE)).toBe(false);
      expect(mayRetry(failed(code, { reached: true }), UNSAFE)).toBe(false);
      expect(mayRetry(failed(code, { request_sent: true }), UNSAFE)).toBe(false);
      expect(mayRetry(failed(code, { reached: false }), UNSAFE)).toBe(true);
      expect(mayRetry(failed(code, { request_sent: false }), UNSAFE)).toBe(true);
    }
    expect(mayRetry(failed('E3101'), UNSAFE)).toBe(true);
  });

  test('EXT-05.1 of the answers of a service those with a status that is named, whatever their code', () => {
    expect(mayRetry(failed('E3304', { status: 503 }), SAFE)).toBe(true);
    expect(mayRetry(failed('E3304', { status: 500 }), SAFE)).toBe(false);
    expect(mayRetry(failed('E3309', { status: 409 }), { ...SAFE, statusCodes: new Set([409]) })).toBe(true);
    expect(mayRetry(failed('E3304', { status: 503 }), UNSAFE)).toBe(false);
  });

  test('a manifest can only narrow them, by E-code, wire code or category', () => {
    const only = (...onlyErrors: string[]) => ({ ...SAFE, onlyErrors });
    expect(mayRetry(failed('E3304'), only('E3304'))).toBe(true);
    expect(mayRetry(failed('E3304'), only('external_api_error'))).toBe(true);
    expect(mayRetry(failed('E3304'), only('ServerError'))).toBe(true);
    expect(mayRetry(failed('E3304'), only('E3306', 'timeout'))).toBe(false);
    expect(mayRetry(failed('E3304'), only())).toBe(false);
    expect(mayRetry(failed('E3109'), only('E3109'))).toBe(false);
  });
});

describe('whether a call was cut off', () => {
  test.each<[ErrorCode, Record<string, unknown> | undefined, boolean]>([
    ['E3103', undefined, true],
    ['E3107', undefined, true],
    ['E3310', { request_sent: true }, true],
    ['E3310', { request_sent: false }, false],
    ['E3310', { reached: false }, false],
    ['E3306', { request_sent: false }, false],
    ['E3306', { status: 408 }, false],
    ['E3304', { status: 500 }, false],
    ['E3304', { status: 502 }, true],
    ['E3304', { status: 504 }, true],
    ['E3303', { status: 429 }, false],
    ['E3308', { reached: true }, true],
    ['E3805', undefined, true],
    ['E3811', undefined, true],
    ['E3900', undefined, true],
    ['E3101', undefined, false],
    ['E3110', undefined, false],
    ['E3109', { reached: true }, false],
    ['E3108', undefined, false],
    ['E3102', undefined, false],
    ['E3501', undefined, false],
    ['E3804', undefined, false],
  ])('PIPE-13 %s with %j: %s', (code, details, cutOff) => {
    expect(isCutOff(failed(code, details))).toBe(cutOff);
  });

  test('what surely never reached the tool is never cut off', () => {
    for (const code of CODES) {
      expect(surelyNotReached(failed(code, { reached: false }))).toBe(true);
      expect(isCutOff(failed(code, { reached: false }))).toBe(false);
    }
  });
});
