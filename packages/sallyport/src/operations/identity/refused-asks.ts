import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Ledger } from '../../audit/ledger.ts';
import type { Caller, Principal } from '../../domain/principal/principal.ts';
import type { Log } from '../../telemetry/log.ts';

/** How long repeated refusals of one kind are only counted, in ms. */
const WINDOW_MS = 60_000;
/** Kinds of refusals that are distinguished in one tenant at a time; others are counted together. */
const KINDS_MAX = 100;

/** An operation was refused because the asker lacks a role (E3213). */
export interface RefusedAsk {
  readonly operation: string;
  readonly principal: Principal;
  readonly caller: Pick<Caller, 'door'>;
  readonly refused: Failure;
}

/** Audits refused operations (PRM-10). */
export interface RefusedAsks {
  /**
   * Writes an event for the first refusal of an agent and operation, before it is answered; further ones within a
   * minute are counted, and the count is written when the minute is over. Never rejects: the refusal is given whether
   * or not it is on record.
   */
  note(ask: RefusedAsk): Promise<void>;
  /** Writes the counts so far. */
  close(): Promise<void>;
}

/** Dependencies of the audit of refusals. */
export interface RefusedAsksParts {
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Counted {
  readonly ask: RefusedAsk;
  readonly timer: NodeJS.Timeout;
  /** Refusals after the one on record. */
  repeated: number;
}

/** Starts to count. Guessing operations costs two events a minute for each, and at most 202 for a tenant. */
export function createRefusedAsks({ ledger, clock, log }: RefusedAsksParts): RefusedAsks {
  const tenants = new Map<string, Map<string, Counted>>();
  const write = async (ask: RefusedAsk, more: Record<string, unknown>): Promise<void> => {
    try {
      await ledger.commit({ events: [eventOf(ask, more, clock.now())], durability: 'asynchronous' });
    } catch (thrown) {
      log.error('refusal-not-recorded', { operation: ask.operation, e_code: failureOf(thrown).code });
    }
  };
  const settle = async (tenantId: string, key: string): Promise<void> => {
    const kinds = tenants.get(tenantId);
    const counted = kinds?.get(key);
    if (kinds === undefined || counted === undefined) return;
    clearTimeout(counted.timer);
    kinds.delete(key);
    if (kinds.size === 0) tenants.delete(tenantId);
    if (counted.repeated > 0) await write(counted.ask, { repeated: counted.repeated });
  };
  return {
    async note(ask) {
      const { tenantId } = ask.principal;
      const kinds = tenants.get(tenantId) ?? new Map<string, Counted>();
      const own = `${ask.operation}\n${ask.principal.agentDid}`;
      const key = kinds.has(own) || kinds.size < KINDS_MAX ? own : OTHERS;
      const known = kinds.get(key);
      if (known !== undefined) {
        known.repeated += 1;
        return;
      }
      const shown = key === OTHERS ? { ...ask, operation: OTHERS } : ask;
      const timer = setTimeout(() => void settle(tenantId, key), WINDOW_MS);
      timer.unref();
      kinds.set(key, { ask: shown, timer, repeated: 0 });
      tenants.set(tenantId, kinds);
      await write(shown, {});
    },
    async close() {
      const open = [...tenants].flatMap(([tenantId, kinds]) =>
        [...kinds.keys()].map((key) => [tenantId, key] as const),
      );
      await Promise.all(open.map(([tenantId, key]) => settle(tenantId, key)));
    },
  };
}

/** Stands for all kinds beyond the limit. */
const OTHERS = '*';

function eventOf(
  { operation, principal, caller, refused }: RefusedAsk,
  more: Record<string, unknown>,
  time: number,
): Parameters<Ledger['commit']>[0]['events'][number] {
  const { tenantId, agentDid, userDid, roles } = principal;
  return {
    id: randomUUID(),
    type: 'ai.agent.operation.refused',
    time,
    tenantId,
    subject: operation,
    data: {
      agent_did: agentDid,
      door: caller.door,
      e_code: refused.code,
      operation,
      roles: [...roles],
      tenant_id: tenantId,
      ...(userDid === undefined ? {} : { user_did: userDid }),
      ...(refused.details?.['roles'] === undefined ? {} : { roles_needed: refused.details['roles'] }),
      ...more,
    },
  };
}
