import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission, ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import type { OutboundHttp } from '../../../../external/outbound-http.ts';

/** The request that says whether a service works (CIR-05). */
export interface HealthProbe {
  readonly url: URL;
  readonly timeoutMs: number;
}

/** Wait for an answer when the manifest names none, in ms. */
const TIMEOUT_MS = 5_000;
/** Most of an answer that is read: only its status counts. */
const BODY_BYTES_MAX = 1_024;
const HEADERS = { accept: '*/*', 'user-agent': 'sallyport' };

/** The probe of a manifest; undefined when it names none. */
export function healthProbeOf({ execution_config: config }: ToolManifest): HealthProbe | undefined {
  const named = config?.circuit_breaker_config?.health_probe;
  return named === undefined ? undefined : { url: new URL(named.url), timeoutMs: named.timeout_ms ?? TIMEOUT_MS };
}

/** What a probe says of the service. */
export type Health =
  | { readonly is: 'well' }
  | { readonly is: 'ill'; readonly why: string }
  /** It was not sent: the address is not public, or too many requests wait for it. */
  | { readonly is: 'unknown'; readonly refused: Failure };

/**
 * Asks for the probe's address, without credentials and within the network rows of the call's grant. A service that answers with a
 * status of 200 to 299 in time is well.
 * @throws the reason of the signal when it fires
 */
export async function probeHealth(
  outbound: Pick<OutboundHttp, 'send'>,
  { url, timeoutMs }: HealthProbe,
  allowed: readonly NetworkPermission[],
  signal: AbortSignal,
): Promise<Health> {
  const bounds = { wireBytesMax: BODY_BYTES_MAX, bodyBytesMax: BODY_BYTES_MAX };
  const inTime = AbortSignal.timeout(timeoutMs);
  try {
    const { status } = await outbound.send({ url, method: 'GET', headers: HEADERS }, () => bounds, {
      allowed,
      signal: AbortSignal.any([signal, inTime]),
    });
    return status >= 200 && status < 300 ? { is: 'well' } : { is: 'ill', why: `it was answered with status ${status}` };
  } catch (thrown) {
    signal.throwIfAborted();
    if (inTime.aborted) return { is: 'ill', why: `it had no answer within ${timeoutMs} ms` };
    const refused = failureOf(thrown);
    return refused.code === 'E3104' || refused.code === 'E3803'
      ? { is: 'unknown', refused }
      : { is: 'ill', why: refused.message };
  }
}

/** The refusal of a call whose circuit stays open because its probe failed (E3404). */
export const probeFailed = (name: string, why: string, waitMs: number): Failure =>
  failure('E3404', `The circuit ${name} stays open: its health probe failed (${why}). Try again in ${waitMs} ms.`, {
    details: { circuit: name, state: 'open' },
    retryAfterMs: waitMs,
  });
