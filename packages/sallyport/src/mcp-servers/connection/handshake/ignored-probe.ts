import { setTimeout as pause } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { Multiplexer } from '../multiplexer.ts';

/** How long a server may leave the probe without an answer before it is pinged, ms, and as a part of its start's time. */
const PATIENCE = { ms: 2_000, part: 0.1 } as const;
/** How long after the answer to the ping that to the probe may come, ms: a server may work on both at once. */
const GRACE_MS = 500;

/**
 * Ends the probe for the newer protocol once the server shows that it ignores it: it answers a later ping. A server that
 * answers neither may still be starting, and the probe waits for it. Never rejects.
 * @param timeoutMs of the whole start
 * @param signal aborted when the handshake is over
 */
export async function endIgnoredProbe(mux: Multiplexer, timeoutMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(Math.min(PATIENCE.ms, timeoutMs * PATIENCE.part), undefined, { signal, ref: false });
    if (mux.probeAnswered()) return;
    await mux.request('ping', {}, { signal, timeoutMs }).catch(answeredAtAll);
    await pause(GRACE_MS, undefined, { signal, ref: false });
    mux.endProbe();
  } catch {
    // The handshake is over, or the server answers nothing.
  }
}

/** An error is an answer too. */
function answeredAtAll(thrown: unknown): void {
  if (!(thrown instanceof ProtocolError)) throw thrown;
}
