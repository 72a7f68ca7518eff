import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Ledger } from '../../../../audit/ledger.ts';
import type { CircuitChange } from '../../../../domain/circuit/circuit.ts';
import type { Log } from '../../../../telemetry/log.ts';
import { type ChangedCircuit, circuitEvent } from './circuit-event.ts';
import { unknownStateRefusal } from './circuit-refusals.ts';

/** Where what happens to circuits is noted. */
export interface NoteParts {
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A circuit, and what changed it. */
export type NotedCircuit = Pick<ChangedCircuit, 'tenantId' | 'name' | 'by'>;

/** Puts a change of a circuit on record. Never rejects. */
export async function noteChange(
  { ledger, clock, log }: NoteParts,
  changed: NotedCircuit,
  change: CircuitChange,
): Promise<void> {
  try {
    const event = circuitEvent({ ...changed, change, at: clock.now() });
    await ledger.commit({ events: [event], durability: 'asynchronous' });
  } catch (thrown) {
    // The circuit protects its service whether or not the change is on record; the call itself is recorded or fails.
    log.error('circuit-change-not-recorded', { circuit: changed.name, to: change.to, e_code: failureOf(thrown).code });
  }
}

/** Logs that the end of an attempt did not reach the store. */
export function lostReport({ log }: Pick<NoteParts, 'log'>, name: string, thrown: unknown): void {
  log.warn('circuit-report-lost', { circuit: name, cause: String(thrown) });
}

/** The refusal of an attempt when the store does not know the state; undefined where that counts as closed. */
export function unknownState(
  { log, unknownState: counts }: Pick<NoteParts, 'log'> & { readonly unknownState: 'open' | 'closed' },
  name: string,
  thrown: unknown,
): Failure | undefined {
  log.warn('circuit-state-unknown', { circuit: name, counts_as: counts, cause: String(thrown) });
  return counts === 'open' ? unknownStateRefusal(name, thrown) : undefined;
}
