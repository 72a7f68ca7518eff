import type { ServerResponse } from 'node:http';
import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { entryOf, errorBody, type Failure } from '@sallyport/std/error/failure';
import type { ProblemDetails } from '../../../api/schemas/error.ts';
import type { ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import { send } from '../http-answer.ts';
import { isChallenged, type ProtectedResource, refusalOf } from '../protected-resource.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Sends a successful answer as JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, JSON_TYPE, JSON.stringify(value));
}

/**
 * Sends a failure as problem details (RFC 9457). `status` replaces the catalogue's status where HTTP itself was
 * misused.
 */
export function sendProblem(
  response: ServerResponse,
  failed: Failure,
  resource: ProtectedResource,
  status: number = entryOf(failed.code).http,
  headers: readonly string[] = [],
): void {
  send(response, status, PROBLEM_TYPE, JSON.stringify(problemOf(failed, status)), [
    ...headers,
    ...challengeFor(response, resource, status, failed),
    ...(failed.retryAfterMs === undefined ? [] : ['retry-after', retryAfter(failed.retryAfterMs)]),
  ]);
}

/** A failure as problem details. */
export function problemOf(failed: Failure, status: number = entryOf(failed.code).http): ProblemDetails {
  const { message, ...error } = errorBody(failed);
  return {
    type: `urn:sallyport:error:${failed.code}`,
    title: entryOf(failed.code).means,
    status,
    detail: message,
    ...error,
  };
}

/** Sends the answer of a tool call, whatever its outcome, with the status that the catalogue gives its error. */
export function sendInvocation(
  response: ServerResponse,
  answer: ToolInvokeResponse,
  resource: ProtectedResource,
): void {
  const { error } = answer;
  // Fast path: a successful call has no headers of its own.
  if (error === undefined) {
    sendJson(response, answer.status === 'success' ? 200 : 202, answer);
    return;
  }
  const status = isErrorCode(error.e_code) ? ERRORS[error.e_code].http : 500;
  send(response, status, JSON_TYPE, JSON.stringify(answer), [
    ...challengeFor(response, resource, status, {
      code: error.e_code,
      ...(error.details === undefined ? {} : { details: error.details }),
    }),
    ...(error.retry_after_ms === undefined ? [] : ['retry-after', retryAfter(error.retry_after_ms)]),
  ]);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Name and value of the header that says which credential to use, where another one would help. */
function challengeFor(
  { req }: ServerResponse,
  resource: ProtectedResource,
  status: number,
  { code, details }: { readonly code: string; readonly details?: Readonly<Record<string, unknown>> },
): readonly string[] {
  if (!isChallenged(status, code)) return [];
  return ['www-authenticate', resource.challenge(req, '', refusalOf(code, details))];
}

/** Whole seconds, rounded up (RFC 9110 §10.2.3). */
function retryAfter(ms: number): string {
  return String(Math.ceil(ms / 1000));
}
