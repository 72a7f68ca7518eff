import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Client, Pool } from 'pg';
import type { PolicyUpdate, PolicyUpdates } from '../../../permission/policy-updates.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import { inDatabase } from '../database-error.ts';
import { shownText } from '../key-text.ts';
import { listen } from './listen.ts';

/** Channel of the notifications; also for programs that change policies elsewhere: `notify "policy:updates"` (G-007). */
const CHANNEL = 'policy:updates';
/** How often the revision is read, in ms. */
const POLL_MS = 400;
/** Most characters of a reason: a notification holds 8000 bytes. */
const REASON_CHARS_MAX = 500;

/** The row's lock orders the updates of all instances; the notification is sent when the statement commits. */
const PUBLISH = `
with changed as (update sallyport.policy_updates set revision = revision + 1, reason = $1 returning revision)
select revision::text, pg_notify('${CHANNEL}', json_build_object('revision', revision, 'reason', $1::text)::text)
from changed`;
const READ = 'select revision::text, reason from sallyport.policy_updates';

/** Dependencies of the policy updates. */
export interface PostgresPolicyUpdatesParts {
  readonly pool: Pool;
  /** A new connection beside the pool, for LISTEN. */
  readonly connect: () => Client;
  readonly log: Log;
  /** Default 400. */
  readonly pollMs?: number;
}

/** One update in the order of all of them. */
interface Revision {
  readonly revision: number;
  readonly reason: string;
}

/**
 * Policy updates of all instances over one database. A notification brings them at once; the revision of a row, read
 * twice a second, brings what no notification did: after a lost connection, and with a pooler that forbids LISTEN or
 * drops what it brings. While the row cannot be read, subscribers get `missed`.
 * @throws E3812 when the database cannot be read
 */
export async function openPostgresPolicyUpdates(parts: PostgresPolicyUpdatesParts): Promise<PolicyUpdates> {
  const { pool, connect, log, pollMs = POLL_MS } = parts;
  const listeners = new Set<{ readonly receive: (update: PolicyUpdate) => void }>();
  const notify = (update: PolicyUpdate): void => {
    for (const { receive } of listeners) {
      try {
        receive(update);
      } catch {
        // A failure of one listener does not concern the others.
      }
    }
  };
  let known = (await read(pool)).revision;
  const arrived = ({ revision, reason }: Revision): void => {
    if (revision <= known) return;
    known = revision;
    notify({ reason });
  };
  const polling = poll({ read: async () => arrived(await read(pool)), notify, log, pollMs });
  const listening = await listen({
    channel: CHANNEL,
    connect,
    notified: (payload) => {
      const update = revisionIn(payload);
      if (update === undefined) notify({ reason: payload.slice(0, REASON_CHARS_MAX) });
      else arrived(update);
    },
    again: () => notify({ reason: 'the connection for notifications was lost', missed: true }),
    log,
  });
  return {
    async publish(update) {
      const reason = shownText(update.reason).slice(0, REASON_CHARS_MAX);
      try {
        arrived(await inDatabase('notify the other instances of changed policies', () => publish(pool, reason)));
      } catch (thrown) {
        notify({ reason });
        throw thrown;
      }
    },
    subscribe(receive) {
      const listener = { receive };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async [Symbol.asyncDispose]() {
      listeners.clear();
      await Promise.all([polling[Symbol.asyncDispose](), listening[Symbol.asyncDispose]()]);
    },
  };
}

const publish = async (pool: Pool, reason: string): Promise<Revision> => {
  const { rows } = await pool.query<{ revision: string }>(PUBLISH, [reason]);
  return { revision: Number(rows[0]?.revision), reason };
};

const read = (pool: Pool): Promise<Revision> =>
  inDatabase('say whether policies changed', async () => {
    const { rows } = await pool.query<{ revision: string; reason: string }>(READ);
    return { revision: Number(rows[0]?.revision), reason: rows[0]?.reason ?? '' };
  });

/** Undefined for the payload of another program. */
function revisionIn(payload: string): Revision | undefined {
  try {
    const { revision, reason } = JSON.parse(payload) as Partial<Revision>;
    return typeof revision === 'number' && typeof reason === 'string' ? { revision, reason } : undefined;
  } catch {
    return undefined;
  }
}

/** How the revision is read. */
interface Polling {
  readonly read: () => Promise<void>;
  readonly notify: (update: PolicyUpdate) => void;
  readonly log: Log;
  readonly pollMs: number;
}

/** Reads regularly; one read at a time, so a server that hangs is not asked again while it does. */
function poll({ read, notify, log, pollMs }: Polling): AsyncDisposable {
  let failed = false;
  let reading: Promise<void> | undefined;
  const readOnce = async (): Promise<void> => {
    try {
      await read();
      failed = false;
    } catch (thrown) {
      // Logged once per outage: twice a second would drown the log.
      if (!failed) log.error('policy-updates-not-read', { reason: failureOf(thrown).message });
      failed = true;
    } finally {
      reading = undefined;
    }
  };
  const timer = setInterval(() => {
    // The last read failed, or is under way since the last turn.
    if (failed || reading !== undefined)
      notify({ reason: 'the database does not say whether policies changed', missed: true });
    reading ??= readOnce();
  }, pollMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await reading;
    },
  };
}
