import type { Pool } from 'pg';
import type { PolicyUpdate, PolicyUpdates } from '../../../permission/policy-updates.port.ts';
import { createListeners } from '../../listeners.ts';
import { inDatabase } from '../database-error.ts';
import { shownText } from '../key-text.ts';
import { listen } from './listen.ts';
import { POLL_MS, poll, type UpdatesParts } from './poll.ts';

/** Channel of the notifications; also for programs that change policies elsewhere: `notify "policy:updates"` (G-007). */
const CHANNEL = 'policy:updates';
/** Most characters of a reason: a notification holds 8000 bytes. */
const REASON_CHARS_MAX = 500;

/** The row's lock orders the updates of all instances; the notification is sent when the statement commits. */
const PUBLISH = `
with changed as (update sallyport.policy_updates set revision = revision + 1, reason = $1 returning revision)
select revision::text, pg_notify('${CHANNEL}', json_build_object('revision', revision, 'reason', $1::text)::text)
from changed`;
const READ = 'select revision::text, reason from sallyport.policy_updates';

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
export async function openPostgresPolicyUpdates(parts: UpdatesParts): Promise<PolicyUpdates> {
  const { pool, connect, log, pollMs = POLL_MS } = parts;
  const { notify, subscribe, clear } = createListeners<PolicyUpdate>();
  let known = (await read(pool)).revision;
  const arrived = ({ revision, reason }: Revision): void => {
    if (revision <= known) return;
    known = revision;
    notify({ reason });
  };
  /** @param least a lower revision is one of a database that was set back, which numbers its updates anew */
  const settled = (found: Revision, least: number): void => {
    if (found.revision < least) {
      known = found.revision;
      notify({ reason: found.reason, missed: true });
    } else arrived(found);
  };
  const polling = poll({
    read: async () => {
      const before = known;
      settled(await read(pool), before);
    },
    late: () => notify({ reason: 'the database does not say whether policies changed', missed: true }),
    event: 'policy-updates-not-read',
    ...{ log, pollMs },
  });
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
      const before = known;
      try {
        const published = await inDatabase('notify the other instances of changed policies', () =>
          publish(pool, reason),
        );
        settled(published, before + 1);
      } catch (thrown) {
        notify({ reason });
        throw thrown;
      }
    },
    subscribe,
    async [Symbol.asyncDispose]() {
      clear();
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
