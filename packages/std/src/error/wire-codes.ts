/** Codes of an error on the wire: ToolErrorCode of the BC-2 contract, and the outcomes that requirements.md adds to it. */
export const WIRE_CODES = [
  'invalid_parameters',
  'tool_not_found',
  'tool_version_not_found',
  'permission_denied',
  'rate_limit_exceeded',
  'idempotency_conflict',
  'tool_execution_error',
  'sandbox_failure',
  'external_api_error',
  'circuit_breaker_open',
  'timeout',
  'resource_exhausted',
  'document_not_found',
  'document_unavailable',
  'document_version_conflict',
  'checkpoint_failed',
  'resume_failed',
  'state_conflict',
  'internal_error',
  'tool_removed',
  'tool_deprecated',
  'tool_conflict',
  'invalid_manifest',
  'policy_blocked',
  'quota_blocked',
  'pending_approval',
  'approval_denied',
  'approval_expired',
  'cancelled',
  'outcome_unknown',
  'not_found',
] as const;
/** One code of an error on the wire. */
export type WireCode = (typeof WIRE_CODES)[number];

/** The eleven categories of an error for the model (002, error taxonomy). */
export const ERROR_CATEGORIES = [
  'ToolNotFound',
  'InvalidParameters',
  'TypeMismatch',
  'PolicyBlocked',
  'ConfirmationRequired',
  'PermanentFailure',
  'Cancelled',
  'RateLimited',
  'ServerError',
  'NetworkError',
  'Timeout',
] as const;
/** One category of an error for the model. */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];
