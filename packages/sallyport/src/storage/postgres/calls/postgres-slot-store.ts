import type { Client, Pool } from 'pg';
import type { SlotStore } from '../../../permission/slot-store.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import { listen } from '../notifications/listen.ts';

/** Channel of the notifications: a hash of an agent, or `*`, then a space and the sender. */
const CHANNEL = 'agent:slots';
const ANY_AGENT = '*';

/**
 * Instances whose lease is over are removed with their slots, and so is a former life of this one, which differs in the
 * UUID at its end; instances whose calls wait for these slots are notified.
 */
const RENEW = {
  name: 'sallyport-renew-slots',
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true)), me as (
  insert into sallyport.slot_holders (owner, until)
  select $1, clock_timestamp() + make_interval(secs => $2::double precision / 1000) from quick
  on conflict (owner) do update set until = excluded.until
), gone as (
  delete from sallyport.slot_holders where owner <> $1 and (until <= clock_timestamp() or left(owner, -36) = left($1, -36)) returning owner
), notified as materialized (
  select pg_notify('${CHANNEL}', '${ANY_AGENT} ' || min(owner)) from gone having count(*) > 0
)
select own.agent_hash from sallyport.agent_slots own
where own.owner = $1 and own.slots > 0 and exists (
  select from sallyport.agent_slots other
  where other.agent_hash = own.agent_hash and other.owner <> $1 and other.wanted > 0)
union all
select null from notified`,
};

const SHARE = {
  name: 'sallyport-share-slots',
  text: 'select held, others_wait from sallyport.share_agent_slots($1, $2, $3, $4, $5, $6)',
};

const RELEASE = {
  name: 'sallyport-release-slots',
  text: `
with released as (
  delete from sallyport.agent_slots where owner = $1 and agent_hash = any($2::text[]) returning agent_hash)
select pg_notify('${CHANNEL}', released.agent_hash || ' ' || $1) from released
where exists (
  select from sallyport.agent_slots other
  where other.agent_hash = released.agent_hash and other.owner <> $1 and other.wanted > 0)`,
};

const LEAVE = {
  name: 'sallyport-leave-slots',
  text: `
with gone as (delete from sallyport.slot_holders where owner = $1 returning owner)
select pg_notify('${CHANNEL}', '${ANY_AGENT} ' || owner) from gone`,
};

/** Dependencies of the store of slots. */
export interface PostgresSlotStoreParts {
  readonly pool: Pool;
  /** A new connection beside the pool, for LISTEN. */
  readonly connect: () => Client;
  readonly log: Log;
}

/** Slots in PostgreSQL, one count for all instances; leases expire by its clock. */
export function postgresSlotStore({ pool, connect, log }: PostgresSlotStoreParts): SlotStore {
  return {
    renew: (owner, ttlMs) =>
      inDatabase('renew the slots', async () => {
        const { rows } = await pool.query<{ agent_hash: string | null }>({ ...RENEW, values: [keyText(owner), ttlMs] });
        return rows.flatMap(({ agent_hash: agentHash }) => agentHash ?? []);
      }),
    share: (owner, { agentHash, max, running, waiting, waitedMs }) =>
      inDatabase('count the calls of the agent', async () => {
        const values = [agentHash, keyText(owner), max, running, waiting, waitedMs];
        const { rows } = await pool.query<{ held: number; others_wait: boolean }>({ ...SHARE, values });
        const [row] = rows;
        return row === undefined ? undefined : { slots: row.held, othersWait: row.others_wait };
      }),
    release: (owner, agentHashes) =>
      inDatabase('give slots back', async () => {
        await pool.query({ ...RELEASE, values: [keyText(owner), agentHashes] });
      }),
    leave: (owner) =>
      inDatabase('give slots back', async () => void (await pool.query({ ...LEAVE, values: [keyText(owner)] }))),
    listen: (owner, notified) =>
      listen({
        channel: CHANNEL,
        connect,
        notified: (payload) => {
          const space = payload.indexOf(' ');
          const agentHash = payload.slice(0, space);
          if (payload.slice(space + 1) !== keyText(owner)) notified(agentHash === ANY_AGENT ? undefined : agentHash);
        },
        again: () => notified(undefined),
        log,
      }),
  };
}
