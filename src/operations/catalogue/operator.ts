import { AuditPage, AuditQuery, AuditVerification } from '../../../api/schemas/audit.ts';
import { TokenHolder, TokenMintRequest, TokenMintResponse } from '../../../api/schemas/capability-token.ts';
import { Health } from '../../../api/schemas/health.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import type { OperationEntry } from './entry.ts';

/** What keeps the layer itself: tokens, audit, health. */
export const OPERATOR = {
  'token.mint': {
    summary: 'Sign a capability token',
    method: 'POST',
    path: '/v1/tokens',
    status: 201,
    access: 'operator',
    input: TokenMintRequest,
    output: TokenMintResponse,
  },
  'token.inspect': {
    summary: "Say whom the caller's token speaks for",
    method: 'GET',
    path: '/v1/tokens/current',
    status: 200,
    access: 'token',
    input: NoInput,
    output: TokenHolder,
  },
  'audit.query': {
    summary: 'Read the audit events of the tenant',
    method: 'GET',
    path: '/v1/audit',
    status: 200,
    access: 'operator',
    input: AuditQuery,
    output: AuditPage,
  },
  'audit.verify': {
    summary: 'Check the hash chains',
    method: 'GET',
    path: '/v1/audit/verification',
    status: 200,
    access: 'operator',
    input: NoInput,
    output: AuditVerification,
  },
  health: {
    summary: 'Health of the layer',
    method: 'GET',
    path: '/healthz',
    status: 200,
    access: 'open',
    input: NoInput,
    output: Health,
  },
} as const satisfies Record<string, OperationEntry>;
