import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';
import type { EgressTarget } from '../egress-guard.ts';

/** How far a request came before its connection failed. */
export type Reached = keyof typeof FAILED;

const FAILED = {
  nothing: (host: string, why: string) => `${host} cannot be reached: ${why}.`,
  service: (host: string, why: string) => `${host} gave no answer: ${why}.`,
  answer: (host: string, why: string) => `The answer of ${host} broke off: ${why}.`,
} as const;

/** The catalogue error for a failure below HTTP. */
export function networkFailure(thrown: unknown, { host, port }: EgressTarget, reached: Reached): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const [inner] = thrown instanceof AggregateError ? (thrown.errors as NodeJS.ErrnoException[]) : [];
  const code = codeOf(thrown) || codeOf(inner);
  if (code.startsWith('HPE_')) {
    return new ToolLayerError('E3308', `${host}:${port} sent something that is not HTTP (${code}).`, { cause: thrown });
  }
  // A request may be repeated only when the service cannot have seen it.
  const details = { host, port, ...(code === '' ? {} : { reason: code }), request_sent: reached !== 'nothing' };
  const reason = code === '' ? 'it closed the connection' : code;
  return new ToolLayerError('E3310', FAILED[reached](`${host}:${port}`, reason), { details, cause: thrown });
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
