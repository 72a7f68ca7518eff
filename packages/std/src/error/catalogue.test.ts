import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, type ErrorEntry } from './catalogue.ts';
import { ERROR_CATEGORIES, WIRE_CODES } from './wire-codes.ts';

const ROWS = Object.entries(ERRORS) as [ErrorCode, ErrorEntry][];

/** The codes that specification 000 names, group by group. */
const SPECIFIED = [
  ...['E3001', 'E3002', 'E3003', 'E3004', 'E3005', 'E3006', 'E3007', 'E3008'],
  ...['E3101', 'E3102', 'E3103', 'E3104', 'E3105', 'E3106', 'E3107', 'E3108'],
  ...['E3201', 'E3202', 'E3203', 'E3204', 'E3205', 'E3206', 'E3207', 'E3208'],
  ...['E3301', 'E3302', 'E3303', 'E3304', 'E3305', 'E3306', 'E3307', 'E3308'],
  ...['E3401', 'E3402', 'E3403', 'E3404', 'E3405'],
  ...['E3501', 'E3502', 'E3503', 'E3504', 'E3505', 'E3506', 'E3507', 'E3508'],
  ...['E3601', 'E3602', 'E3603', 'E3604', 'E3605', 'E3606', 'E3607', 'E3608'],
  ...['E3701', 'E3702', 'E3703', 'E3704', 'E3705', 'E3706', 'E3707', 'E3708'],
];

describe('PIPE-04 the error catalogue', () => {
  test('PIPE-04.1 has a row for every code of the specification', () => {
    expect(SPECIFIED.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
  });

  test('says every wire code in some row, and no other', () => {
    expect(new Set(ROWS.map(([, { wire }]) => wire))).toEqual(new Set(WIRE_CODES));
  });

  test('uses all eleven categories, and no other', () => {
    expect(ERROR_CATEGORIES).toHaveLength(11);
    expect(new Set(ROWS.map(([, { category }]) => category))).toEqual(new Set(ERROR_CATEGORIES));
  });

  test('uses all six failure types', () => {
    expect([...new Set(ROWS.map(([, { failure }]) => failure))].sort()).toEqual([
      'AuthorizationError',
      'ExecutionError',
      'ResourceError',
      'StateError',
      'TimeoutError',
      'ValidationError',
    ]);
  });

  test('counts as quality failures only what lies in the arguments', () => {
    const quality = ROWS.filter(([, entry]) => entry.quality);
    expect(quality.length).toBeGreaterThan(0);
    for (const [code, { category }] of quality) expect(['InvalidParameters', 'TypeMismatch'], code).toContain(category);
  });

  test('says of each row what it means', () => {
    for (const [code, { means }] of ROWS) expect(means, code).toMatch(/^\S.{9,}[^.\s]$/);
    expect(new Set(ROWS.map(([, { means }]) => means)).size).toBe(ROWS.length);
  });

  test('has only statuses that exist', () => {
    for (const [code, { http, grpc, rpc }] of ROWS) {
      expect([200, 202, 400, 401, 403, 404, 409, 410, 413, 429, 499, 500, 501, 502, 503, 504], code).toContain(http);
      expect(grpc >= 0 && grpc <= 16, code).toBe(true);
      expect(rpc === 'result' || (rpc >= -32768 && rpc <= -32000), code).toBe(true);
    }
  });

  test('agrees between HTTP and gRPC about whether the call went well', () => {
    for (const [code, { http, grpc }] of ROWS) expect(grpc === 0, code).toBe(http === 200);
  });

  // Clients depend on these values. A change here is a change of the contract and gets a line in the changelog.
  test.each<[ErrorCode, string, string, number, number, number | 'result', boolean, boolean]>([
    ['E3001', 'tool_not_found', 'ToolNotFound', 404, 5, -32602, false, false],
    ['E3003', 'tool_deprecated', 'ToolNotFound', 200, 0, 'result', false, false],
    ['E3004', 'tool_removed', 'ToolNotFound', 410, 5, -32602, false, false],
    ['E3007', 'tool_conflict', 'PermanentFailure', 409, 6, -32602, false, false],
    ['E3103', 'timeout', 'Timeout', 504, 4, 'result', true, false],
    ['E3106', 'resource_exhausted', 'RateLimited', 429, 8, 'result', true, false],
    ['E3202', 'permission_denied', 'PolicyBlocked', 401, 16, -32001, false, false],
    ['E3203', 'permission_denied', 'PolicyBlocked', 403, 7, 'result', false, false],
    ['E3210', 'policy_blocked', 'PolicyBlocked', 403, 7, 'result', false, false],
    ['E3303', 'rate_limit_exceeded', 'RateLimited', 429, 8, 'result', true, false],
    ['E3401', 'circuit_breaker_open', 'ServerError', 503, 14, 'result', true, false],
    ['E3502', 'invalid_parameters', 'TypeMismatch', 400, 3, 'result', false, true],
    ['E3509', 'invalid_parameters', 'InvalidParameters', 400, 3, 'result', false, true],
    ['E3802', 'idempotency_conflict', 'PermanentFailure', 409, 6, 'result', false, false],
    ['E3804', 'outcome_unknown', 'PermanentFailure', 502, 2, 'result', false, false],
    ['E3805', 'cancelled', 'Cancelled', 499, 1, 'result', false, false],
    ['E3806', 'pending_approval', 'ConfirmationRequired', 202, 9, 'result', false, false],
    ['E3900', 'internal_error', 'ServerError', 500, 13, -32603, false, false],
  ])('PIPE-04.1 keeps %s as %s', (code, wire, category, http, grpc, rpc, retryable, quality) => {
    expect(ERRORS[code]).toMatchObject({ wire, category, http, grpc, rpc, retryable, quality });
  });
});
