import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Ledger } from '../../audit/ledger.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { PolicyNews, PolicyReading } from '../../permission/policy-administration.ts';
import type { PolicyFault } from '../../permission/policy-engine.port.ts';
import type { Log } from '../../telemetry/log.ts';

/** Agent in the events of policies that the layer itself loaded. */
const LAYER = 'did:sallyport:layer';
/** Changes that are kept until the ledger exists. */
const EARLY_MAX = 100;

/** Dependencies of the record of policies. */
export interface PolicyRecordParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Tenant of the events: policies belong to the layer, so it is the tenant that runs the layer. */
  readonly tenantId: string;
}

/** Audits which policies came into force, and which were kept out (PRM-05). */
export interface PolicyRecord {
  readonly news: PolicyNews;
  /** Writes all earlier changes now, and later ones at once. Never rejects. */
  recordIn(ledger: Pick<Ledger, 'commit'>): Promise<void>;
}

/**
 * Writes an event for each change: `change` is `in-force` or `kept-out`, with engine, versions, number of policies,
 * file, line and reason. A change that cannot be recorded is logged; the policies are in force all the same.
 */
export function createPolicyRecord({ clock, log, tenantId }: PolicyRecordParts): PolicyRecord {
  const early: EventDraft[] = [];
  let ledger: Pick<Ledger, 'commit'> | undefined;
  const commit = async (events: readonly EventDraft[]): Promise<void> => {
    try {
      await ledger?.commit({ events, durability: 'synchronous' });
    } catch (thrown) {
      log.error('policies-not-recorded', { e_code: failureOf(thrown).code });
    }
  };
  const write = (reading: PolicyReading, change: Record<string, unknown>): Promise<void> | undefined => {
    const event = eventOf(reading, change, tenantId, clock.now());
    if (ledger !== undefined) return commit([event]);
    if (early.length < EARLY_MAX) early.push(event);
    else log.error('policies-not-recorded', { engine: reading.engine });
    return undefined;
  };
  return {
    news: {
      inForce: (reading) => write(reading, { change: 'in-force' }),
      notTaken: (reading, fault) => write(reading, { change: 'kept-out', ...faultOf(fault) }),
    },
    async recordIn(opened) {
      ledger = opened;
      if (early.length > 0) await commit(early.splice(0));
    },
  };
}

const faultOf = ({ message, file, line }: PolicyFault): Record<string, unknown> => ({
  reason: message,
  ...(file === undefined ? {} : { file }),
  ...(line === undefined ? {} : { line }),
});

function eventOf(
  { engine, version, versionBefore, policies, by }: PolicyReading,
  change: Record<string, unknown>,
  tenantId: string,
  time: number,
): EventDraft {
  return {
    id: randomUUID(),
    type: 'ai.agent.policy.changed',
    time,
    tenantId,
    subject: engine,
    data: {
      ...change,
      by: by?.agentDid ?? LAYER,
      ...(by === undefined ? {} : { door: by.door }),
      engine,
      version,
      version_before: versionBefore,
      policies,
      tenant_id: tenantId,
    },
  };
}
