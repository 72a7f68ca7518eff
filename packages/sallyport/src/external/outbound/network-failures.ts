import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';
import type { EgressTarget } from '../egress-guard.ts';

/** The catalogue error for a failure below HTTP. */
export function networkFailure(thrown: unknown, { host, port }: EgressTarget, connected: boolean): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const [inner] = thrown instanceof AggregateError ? (thrown.errors as NodeJS.ErrnoException[]) : [];
  const code = codeOf(thrown) || codeOf(inner);
  if (code.startsWith('HPE_')) {
    return new ToolLayerError('E3308', `${host}:${port} sent something that is not HTTP (${code}).`, { cause: thrown });
  }
  // A request may be repeated only when the service cannot have seen it.
  const details = { host, port, ...(code === '' ? {} : { reason: code }), request_sent: connected };
  const reason = code === '' ? 'it closed the connection' : code;
  return new ToolLayerError('E3310', `${host}:${port} cannot be reached: ${reason}.`, { details, cause: thrown });
}

/** Wording for a phase that took too long. */
const SLOW = {
  connect: 'gave no connection',
  answer: 'did not begin to answer',
  silence: 'sent nothing more of its answer',
} as const;

/** A part of a request. */
export type Phase = keyof typeof SLOW;

export function tooSlow(phase: Phase, ms: number, { host, port }: EgressTarget): ToolLayerError {
  return new ToolLayerError('E3306', `${host}:${port} ${SLOW[phase]} within ${ms} ms.`, {
    details: { host, port, timeout_ms: ms, request_sent: phase !== 'connect' },
  });
}
