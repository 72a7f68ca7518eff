import type { ErrorCategory, WireCode } from './wire-codes.ts';

/** Failure types of 001 §7.1; they decide what recovery is allowed. */
export type FailureType =
  | 'ValidationError'
  | 'AuthorizationError'
  | 'ResourceError'
  | 'ExecutionError'
  | 'TimeoutError'
  | 'StateError';

/** One row of the catalogue (PIPE-04). */
export interface ErrorEntry {
  /** Code on the wire. */
  readonly wire: WireCode;
  readonly category: ErrorCategory;
  readonly failure: FailureType;
  /** HTTP status. */
  readonly http: number;
  /** gRPC status number. */
  readonly grpc: number;
  /** JSON-RPC code for a protocol error, or 'result' when the model gets it as a tool result that it can act on. */
  readonly rpc: number | 'result';
  /** True when the same call may succeed later unchanged. */
  readonly retryable: boolean;
  /** True when the model caused it by the quality of its arguments (002). */
  readonly quality: boolean;
  readonly means: string;
}

type Cause = readonly [WireCode, ErrorCategory, FailureType];
type Statuses = readonly [http: number, grpc: number, rpc: number | 'result'];

const row = (
  [wire, category, failure]: Cause,
  [http, grpc, rpc]: Statuses,
  means: string,
  flags: { retryable?: true; quality?: true } = {},
): ErrorEntry => ({
  wire,
  category,
  failure,
  http,
  grpc,
  rpc,
  means,
  retryable: flags.retryable ?? false,
  quality: flags.quality ?? false,
});

const NOT_FOUND: Cause = ['tool_not_found', 'ToolNotFound', 'ValidationError'];
const DENIED: Cause = ['permission_denied', 'PolicyBlocked', 'AuthorizationError'];
const BAD_ARGUMENTS: Cause = ['invalid_parameters', 'InvalidParameters', 'ValidationError'];
const BAD_RESULT: Cause = ['tool_execution_error', 'PermanentFailure', 'ExecutionError'];
const EXTERNAL: Cause = ['external_api_error', 'ServerError', 'ExecutionError'];
const CIRCUIT: Cause = ['circuit_breaker_open', 'ServerError', 'ResourceError'];
const DOCUMENT: Cause = ['document_unavailable', 'ServerError', 'ResourceError'];
const CHECKPOINT: Cause = ['checkpoint_failed', 'PermanentFailure', 'StateError'];
const RESUME: Cause = ['resume_failed', 'PermanentFailure', 'StateError'];

const UNAUTHENTICATED: Statuses = [401, 16, -32001];
const FORBIDDEN: Statuses = [403, 7, 'result'];

/** Every error that may leave the layer. E30xx–E37xx are 000's; E38xx and E39xx are ours. A retired code is never used again. */
export const ERRORS = {
  E3001: row(NOT_FOUND, [404, 5, -32602], 'no tool of this id is visible to the caller'),
  E3002: row(
    ['tool_version_not_found', 'ToolNotFound', 'ValidationError'],
    [404, 5, -32602],
    'the tool has no such version',
  ),
  E3003: row(
    ['tool_deprecated', 'ToolNotFound', 'ValidationError'],
    [200, 0, 'result'],
    'the version is deprecated; the call went on (a warning)',
  ),
  E3004: row(['tool_removed', 'ToolNotFound', 'ValidationError'], [410, 5, -32602], 'this version was removed'),
  E3005: row(
    ['external_api_error', 'ServerError', 'ResourceError'],
    [200, 0, 'result'],
    'semantic search is down; keywords were used (a warning)',
    { retryable: true },
  ),
  E3006: row(
    ['tool_version_not_found', 'ToolNotFound', 'ValidationError'],
    [404, 5, -32602],
    'no version lies in the requested range',
  ),
  E3007: row(
    ['tool_conflict', 'PermanentFailure', 'StateError'],
    [409, 6, -32602],
    'id and version are registered with another content',
  ),
  E3008: row(['invalid_manifest', 'InvalidParameters', 'ValidationError'], [400, 3, -32602], 'the manifest has faults'),

  E3101: row(['sandbox_failure', 'ServerError', 'ResourceError'], [503, 14, 'result'], 'no sandbox could be made', {
    retryable: true,
  }),
  E3102: row(
    ['resource_exhausted', 'PolicyBlocked', 'ResourceError'],
    [403, 8, 'result'],
    "a resource limit was reached, or asked for beyond the agent's",
  ),
  E3103: row(
    ['timeout', 'Timeout', 'TimeoutError'],
    [504, 4, 'result'],
    'the tool did not end in time and was stopped',
    { retryable: true },
  ),
  E3104: row(DENIED, FORBIDDEN, "the network address lies outside the agent's bounds"),
  E3105: row(DENIED, FORBIDDEN, "the path lies outside the agent's bounds"),
  E3106: row(
    ['resource_exhausted', 'RateLimited', 'ResourceError'],
    [429, 8, 'result'],
    'the agent runs as many calls at once as it may, and the call waited for a slot in vain',
    { retryable: true },
  ),
  E3107: row(
    ['sandbox_failure', 'ServerError', 'ExecutionError'],
    [502, 13, 'result'],
    'the sandbox or the tool server ended unexpectedly',
    { retryable: true },
  ),
  E3108: row(
    ['tool_execution_error', 'PermanentFailure', 'ExecutionError'],
    [502, 2, 'result'],
    "the tool's process ended with an error",
  ),
  E3109: row(
    ['tool_execution_error', 'PermanentFailure', 'ExecutionError'],
    [502, 2, 'result'],
    'the tool reported an error',
  ),
  E3110: row(
    ['tool_execution_error', 'PermanentFailure', 'StateError'],
    [500, 9, 'result'],
    'no snapshot could be taken, so the command did not run',
  ),

  E3201: row(DENIED, UNAUTHENTICATED, 'the capability token is not valid'),
  E3202: row(DENIED, UNAUTHENTICATED, 'the capability token has expired'),
  E3203: row(DENIED, FORBIDDEN, 'the token does not allow this path'),
  E3204: row(DENIED, FORBIDDEN, 'the token does not allow this host and port'),
  E3205: row(DENIED, FORBIDDEN, 'the token does not allow this credential'),
  E3206: row(DENIED, [403, 14, 'result'], 'the policy engine gave no answer, so the call is denied', {
    retryable: true,
  }),
  E3207: row(DENIED, UNAUTHENTICATED, 'the capability token lacks a required claim'),
  E3208: row(DENIED, UNAUTHENTICATED, 'the capability token was revoked'),
  E3209: row(DENIED, FORBIDDEN, 'the token is for another tool, version, agent, tenant or operation'),
  E3210: row(['policy_blocked', 'PolicyBlocked', 'AuthorizationError'], FORBIDDEN, 'a policy forbids the call'),
  E3211: row(
    ['quota_blocked', 'PolicyBlocked', 'AuthorizationError'],
    [429, 8, 'result'],
    "the session's quota of calls is spent",
  ),
  E3212: row(DENIED, UNAUTHENTICATED, 'the request carries no capability token'),
  E3213: row(DENIED, [403, 7, -32001], "the caller's role does not allow this operation"),
  E3214: row(
    ['invalid_parameters', 'InvalidParameters', 'ValidationError'],
    [400, 3, -32602],
    'the policies have a fault; those before them stay in force',
  ),
  E3215: row(DENIED, [403, 7, -32001], 'the access token lacks the scope that the tool is called with'),
  E3216: row(DENIED, UNAUTHENTICATED, 'the proof that the sender holds the key of the token is missing or not valid'),
  E3217: row(DENIED, UNAUTHENTICATED, 'the proof of the key needs the nonce that the answer carries'),

  E3301: row(EXTERNAL, [503, 14, 'result'], 'the secret store cannot be reached', { retryable: true }),
  E3302: row(
    ['external_api_error', 'PermanentFailure', 'ExecutionError'],
    [502, 9, 'result'],
    'a credential is missing from the secret store',
  ),
  E3303: row(['rate_limit_exceeded', 'RateLimited', 'ResourceError'], [429, 8, 'result'], 'a rate limit is spent', {
    retryable: true,
  }),
  E3304: row(EXTERNAL, [502, 14, 'result'], 'the external service answered with a server error', { retryable: true }),
  E3305: row(EXTERNAL, [502, 14, 'result'], 'every attempt failed'),
  E3306: row(
    ['external_api_error', 'NetworkError', 'TimeoutError'],
    [504, 4, 'result'],
    'the external service did not answer in time',
    { retryable: true },
  ),
  E3307: row(
    ['external_api_error', 'PermanentFailure', 'AuthorizationError'],
    [502, 7, 'result'],
    'the external service refused the credential',
  ),
  E3308: row(
    ['external_api_error', 'PermanentFailure', 'ExecutionError'],
    [502, 13, 'result'],
    'the external service sent something that cannot be read',
  ),
  E3309: row(
    ['external_api_error', 'PermanentFailure', 'ExecutionError'],
    [502, 9, 'result'],
    'the external service refused the request',
  ),
  E3310: row(
    ['external_api_error', 'NetworkError', 'ResourceError'],
    [502, 14, 'result'],
    'the external service cannot be reached, or its answer did not come to its end',
    { retryable: true },
  ),
  E3311: row(
    ['external_api_error', 'PermanentFailure', 'AuthorizationError'],
    [502, 7, 'result'],
    'somebody has to log in at the external service first',
  ),

  E3401: row(CIRCUIT, [503, 14, 'result'], 'the circuit is open', { retryable: true }),
  E3402: row(CIRCUIT, [503, 14, 'result'], "the circuit's state is not known, so it counts as open", {
    retryable: true,
  }),
  E3403: row(
    ['invalid_manifest', 'InvalidParameters', 'ValidationError'],
    [400, 3, -32602],
    'the circuit configuration is not valid',
  ),
  E3404: row(CIRCUIT, [503, 14, 'result'], 'the health probe failed', { retryable: true }),
  E3405: row(CIRCUIT, [503, 14, 'result'], 'trial calls still fail', { retryable: true }),

  E3501: row(BAD_RESULT, [502, 13, 'result'], 'the value does not match the schema'),
  E3502: row(
    ['invalid_parameters', 'TypeMismatch', 'ValidationError'],
    [400, 3, 'result'],
    'an argument does not convert without loss',
    { quality: true },
  ),
  E3503: row(BAD_ARGUMENTS, [400, 3, 'result'], 'the value holds an SQL injection pattern'),
  E3504: row(BAD_ARGUMENTS, [400, 3, 'result'], 'the value holds a cross-site scripting pattern'),
  E3505: row(BAD_ARGUMENTS, [400, 3, 'result'], 'the value holds a command injection pattern'),
  E3506: row(BAD_RESULT, [502, 13, 'result'], 'a required field is missing'),
  E3507: row(BAD_RESULT, [502, 13, 'result'], 'a field has the wrong type'),
  E3508: row(BAD_RESULT, [502, 13, 'result'], 'strict mode needs a result schema and the tool has none'),
  E3509: row(BAD_ARGUMENTS, [400, 3, 'result'], "the arguments do not match the tool's schema", { quality: true }),

  E3601: row(
    ['document_not_found', 'PermanentFailure', 'ExecutionError'],
    [404, 5, 'result'],
    'the document does not exist',
  ),
  E3602: row(DOCUMENT, [503, 14, 'result'], 'the document cannot be had from any source', { retryable: true }),
  E3603: row(DENIED, FORBIDDEN, 'the agent may not read the document'),
  E3604: row(
    ['document_version_conflict', 'PermanentFailure', 'StateError'],
    [409, 9, 'result'],
    'the pinned document version is gone',
  ),
  E3605: row(DOCUMENT, [504, 4, 'result'], 'the document server did not answer in time', { retryable: true }),
  E3606: row(DOCUMENT, [502, 13, 'result'], 'the document server broke the protocol'),
  E3607: row(DOCUMENT, [200, 0, 'result'], 'the document cache is down (a warning)', { retryable: true }),
  E3608: row(
    ['document_version_conflict', 'ServerError', 'StateError'],
    [503, 14, 'result'],
    'document versions could not be pinned',
    { retryable: true },
  ),

  E3701: row(CHECKPOINT, [503, 14, 'result'], 'the checkpoint was not saved', { retryable: true }),
  E3702: row(RESUME, [404, 5, 'result'], 'the checkpoint does not exist'),
  E3703: row(RESUME, [500, 15, 'result'], 'the checkpoint cannot be restored'),
  E3704: row(
    ['state_conflict', 'ServerError', 'StateError'],
    [409, 10, 'result'],
    'another call changed the same state',
  ),
  E3705: row(CHECKPOINT, [500, 13, 'result'], 'the delta could not be computed'),
  E3706: row(CHECKPOINT, [500, 13, 'result'], 'the checkpoint could not be compressed'),
  E3707: row(RESUME, [410, 5, 'result'], 'the checkpoint has expired'),
  E3708: row(RESUME, [503, 14, 'result'], 'the checkpoint is being brought back from the archive', { retryable: true }),

  E3801: row(BAD_ARGUMENTS, [400, 3, -32602], 'the request is not well formed', { quality: true }),
  E3802: row(
    ['idempotency_conflict', 'PermanentFailure', 'StateError'],
    [409, 6, 'result'],
    'the idempotency key or invocation id was used for another request',
  ),
  E3803: row(['resource_exhausted', 'RateLimited', 'ResourceError'], [503, 8, 'result'], 'the layer is overloaded', {
    retryable: true,
  }),
  E3804: row(
    ['outcome_unknown', 'PermanentFailure', 'StateError'],
    [502, 2, 'result'],
    'the call was cut off after it may have reached the tool; it is not repeated',
  ),
  E3805: row(['cancelled', 'Cancelled', 'ExecutionError'], [499, 1, 'result'], 'the call was cancelled'),
  E3806: row(
    ['pending_approval', 'ConfirmationRequired', 'AuthorizationError'],
    [202, 9, 'result'],
    'the call waits for an approval',
  ),
  E3807: row(['approval_denied', 'PolicyBlocked', 'AuthorizationError'], FORBIDDEN, 'an approver denied the call'),
  E3808: row(
    ['approval_expired', 'Timeout', 'AuthorizationError'],
    [403, 4, 'result'],
    'nobody decided on the call in time',
  ),
  E3809: row(
    ['not_found', 'PermanentFailure', 'ValidationError'],
    [404, 5, -32602],
    'there is no such thing for this caller',
  ),
  E3810: row(
    ['resource_exhausted', 'InvalidParameters', 'ValidationError'],
    [413, 3, -32602],
    'the request is larger or deeper than allowed',
    { quality: true },
  ),
  E3811: row(
    ['cancelled', 'ServerError', 'StateError'],
    [503, 14, 'result'],
    'the layer is stopping, or stopped while the call ran; it is safe to call again',
    { retryable: true },
  ),
  E3812: row(
    ['internal_error', 'ServerError', 'StateError'],
    [503, 14, 'result'],
    'the record cannot be written, so nothing was run',
    { retryable: true },
  ),
  E3813: row(
    ['policy_blocked', 'PolicyBlocked', 'AuthorizationError'],
    FORBIDDEN,
    'the tool is in quarantine until an operator accepts what its server serves',
  ),
  E3814: row(
    ['state_conflict', 'PermanentFailure', 'StateError'],
    [409, 9, -32602],
    'the tool version is not in a state that allows this change',
  ),
  E3815: row(
    ['policy_blocked', 'PolicyBlocked', 'AuthorizationError'],
    FORBIDDEN,
    'a hook of the operator refused the call, or its result',
  ),
  E3816: row(DENIED, [403, 14, 'result'], 'a hook of the operator gave no usable answer, so the call is refused', {
    retryable: true,
  }),
  E3817: row(
    ['state_conflict', 'PermanentFailure', 'StateError'],
    [409, 9, -32602],
    'the approval is decided already, or is not the one that was shown',
  ),
  E3818: row(
    ['state_conflict', 'PermanentFailure', 'StateError'],
    [409, 9, 'result'],
    'the side effect is not in a state in which it can be taken back',
  ),
  E3819: row(
    ['not_found', 'PermanentFailure', 'StateError'],
    [410, 5, 'result'],
    'the result was kept for its time and is forgotten; the record of the call stands (a warning)',
  ),
  E3820: row(
    ['internal_error', 'PermanentFailure', 'StateError'],
    [500, 15, 'result'],
    'the stored answer of an earlier call is not what the audit says of it, so it is not given again',
  ),
  E3821: row(
    ['tool_execution_error', 'PermanentFailure', 'ExecutionError'],
    [409, 9, 'result'],
    'the tool asked the client something in the middle of the call and got no answer',
  ),
  E3822: row(
    ['state_conflict', 'PermanentFailure', 'ValidationError'],
    [409, 9, -32601],
    'the tool runs only as an asynchronous call, or only while its caller waits, and the call asks for the other',
  ),
  E3823: row(
    ['external_api_error', 'ServerError', 'ResourceError'],
    [503, 14, 'result'],
    'the object store cannot be reached, or takes nothing more',
    { retryable: true },
  ),

  E3900: row(
    ['internal_error', 'ServerError', 'StateError'],
    [500, 13, -32603],
    'a fault of the layer itself; the operator finds the cause in its log',
  ),
  E3901: row(['internal_error', 'PermanentFailure', 'StateError'], [501, 12, -32601], 'this layer cannot do that'),
} as const satisfies Record<`E${number}`, ErrorEntry>;

/** The closed set of codes. */
export type ErrorCode = keyof typeof ERRORS;
