import type { Clock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { type Credential, type CredentialEnding, endingsOf } from '../../external/credentials.ts';
import type { Log } from '../../telemetry/log.ts';

/** Dependencies of the record of credentials that end. */
export interface CredentialEndingParts {
  readonly credentials: readonly Credential[];
  /** How long before its end a credential counts as near it, in ms. */
  readonly warnMs: number;
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly records: Pick<LedgerStore, 'events'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Newest events of a tenant that are searched for an earlier record. */
const EVENTS_MAX = 1000;
const TYPE = 'ai.agent.credential.ending';

/**
 * Makes the work of one turn: each credential that is near its end, ended, or due for rotation is named in one event of
 * its tenant, and in the log once for each start. An end on record is not recorded again; two instances that look at
 * the same moment may both record one, under one id.
 */
export function createCredentialEndings(parts: CredentialEndingParts): () => Promise<void> {
  const { credentials, warnMs, ledger, clock, log } = parts;
  const done = new Set<string>();
  return async () => {
    const endings = endingsOf(credentials, clock.now(), warnMs).filter((ending) => !done.has(idOf(ending)));
    for (const [tenantId, own] of Map.groupBy(endings, ({ credential }) => credential.tenantId)) {
      const recorded = await recordedIds(parts, tenantId);
      const fresh = own.filter((ending) => !recorded.has(idOf(ending)));
      if (fresh.length > 0)
        await ledger.commit({ events: fresh.map((each) => eventOf(each, clock.now())), durability: 'synchronous' });
      for (const ending of own) {
        done.add(idOf(ending));
        const { credential, reason, at } = ending;
        log.warn('credential-ending', { tenant_id: tenantId, name: credential.name, reason, at: timeOf(at) });
      }
    }
  };
}

const timeOf = (at: number): string => new Date(at).toISOString();

/** Id of the event: the same on every instance, so that readers who drop repeated ids see an ending once. */
const idOf = ({ credential: { tenantId, name }, reason, at }: CredentialEnding): string =>
  sha256(JSON.stringify([TYPE, tenantId, name, reason, timeOf(at)]));

/** Ids of the endings that events of the tenant already name. */
async function recordedIds({ records }: CredentialEndingParts, tenantId: string): Promise<ReadonlySet<string>> {
  const stored = await records.events(tenantId, { type: TYPE, newest: true, limit: EVENTS_MAX });
  return new Set(stored.map(({ event }) => event.id));
}

function eventOf(ending: CredentialEnding, time: number): EventDraft {
  const { name, tenantId, type, rotationSchedule, serviceName } = ending.credential;
  return {
    id: idOf(ending),
    type: TYPE,
    time,
    tenantId,
    subject: name,
    // A member called credential would be redacted.
    data: {
      tenant_id: tenantId,
      name,
      credential_type: type,
      reason: ending.reason,
      ends_at: timeOf(ending.at),
      rotation_schedule: rotationSchedule,
      ...(serviceName === undefined ? {} : { service_name: serviceName }),
    },
  };
}
