import {
  AnchorList,
  AnchorsToVerify,
  AnchorVerification,
  AuditPage,
  AuditQuery,
  AuditVerification,
} from '../../../api/schemas/audit.ts';
import { Health } from '../../../api/schemas/health.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import type { OperationEntry } from '../operation.ts';

/** What keeps the layer itself: audit, health. */
export const OPERATOR = {
  'audit.query': {
    summary: 'Read the audit events of the tenant',
    method: 'GET',
    path: '/v1/audit',
    status: 200,
    access: 'viewer',
    input: AuditQuery,
    output: AuditPage,
  },
  'audit.verify': {
    summary: 'Check the hash chains, and whether they tell of every call',
    method: 'GET',
    path: '/v1/audit/verification',
    status: 200,
    access: 'viewer',
    layerWide: true,
    input: NoInput,
    output: AuditVerification,
  },
  'audit.anchor': {
    summary: 'Sign the heads of all hash chains, to be kept outside',
    method: 'POST',
    path: '/v1/audit/anchors',
    status: 201,
    access: 'operator',
    layerWide: true,
    input: NoInput,
    output: AnchorList,
  },
  'audit.verify-anchors': {
    summary: 'Compare heads that were kept outside with the hash chains',
    method: 'POST',
    path: '/v1/audit/anchors/verification',
    status: 200,
    access: 'viewer',
    layerWide: true,
    input: AnchorsToVerify,
    output: AnchorVerification,
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
