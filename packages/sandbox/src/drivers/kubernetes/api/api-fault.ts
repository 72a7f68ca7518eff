import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** A failed request to the API server. Stays inside the driver. */
export class ApiFault extends Error {
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Kubernetes' reason, such as `Forbidden`. */
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    parts: { status?: number; reason?: string; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = 'ApiFault';
    this.status = parts.status;
    this.reason = parts.reason;
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/** Whether the API server gave this status. */
export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiFault && error.status === status;
}

/** True when the same request may succeed in a moment. */
export function isPassing(error: unknown): error is ApiFault {
  if (!(error instanceof ApiFault)) return false;
  const { status, reason } = error;
  if (status === undefined || status === 429 || status >= 500) return true;
  return status === 409 && reason !== 'AlreadyExists';
}

/** One sentence for the operator that says what to change. */
export function explain(error: unknown): string {
  if (!(error instanceof ApiFault)) return messageOf(error);
  const { status, message } = error;
  if (status === undefined) return `The Kubernetes API server cannot be reached (${message}).`;
  if (status === 401)
    return 'The Kubernetes API server does not accept the credentials of the layer: renew its token or certificate.';
  if (status === 403)
    return `The layer lacks a permission in the cluster: ${message} Grant the role in docs/sandboxes/kubernetes.md.`;
  if (status === 404)
    return `The cluster lacks something that sandboxes need: ${message} Install agent-sandbox with its extensions (v1beta1).`;
  return `The Kubernetes API server answered ${status}: ${message}`;
}

/** The fault in the form that leaves the driver: E3101. The API server's text stays in the cause. */
export function cannotStart(label: string, error: unknown): ToolLayerError {
  if (error instanceof ToolLayerError) return error;
  const why = error instanceof ApiFault ? publicReason(error) : 'The operator finds the cause in the log.';
  return new ToolLayerError('E3101', `No sandbox could be made for ${label}. ${why}`, { cause: error });
}

function publicReason({ status }: ApiFault): string {
  if (status === undefined) return 'The Kubernetes API server cannot be reached. Try again later.';
  if (status === 401)
    return 'The cluster does not accept the credentials of the layer. The operator has to renew them.';
  if (status === 403) return 'The layer lacks a permission in the cluster. sallyport doctor names it.';
  if (status === 404) return 'The cluster lacks what sandboxes need. sallyport doctor names it.';
  return `The Kubernetes API server answered ${status}. Try again later.`;
}
