import { type Clock, systemClock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type Rate, wholeMs } from '../../../domain/rate/rate.ts';
import type { StoredRates } from '../../../external/rate-limiter.port.ts';
import { inDatabase } from '../database-error.ts';
import { RATE_STATEMENTS, rateBack } from './rate-statements.ts';

/** Most refused keys that an instance remembers until a call of theirs can pass. */
const REFUSED_MAX = 10_000;

/** No index on the expiry, so that a take updates its row in place: the removal reads the whole table. */
const FORGET = `
delete from sallyport.rate_counts where key_hash = any (array(
  select key_hash from sallyport.rate_counts
  where expires_at <= coalesce(to_timestamp($2::double precision / 1000), clock_timestamp())
  limit $1 for update skip locked))`;

/** The clocks of the rate limiter; all absent but in tests. */
export interface PostgresRateLimiterOptions {
  /** Takes the place of the database's clock. */
  readonly clock?: Clock;
}

interface Refusal {
  readonly rate: Rate;
  /** Monotonic ms at which a call can pass at the earliest. */
  readonly until: number;
}

/**
 * Rates counted in PostgreSQL, one count for all instances: a round trip for each take. A key that was refused is refused
 * by this instance alone until its wait is over, since no call of any instance can pass before; so a caller that does
 * not wait reaches no database.
 */
export function postgresRateLimiter(pool: Pool, { clock }: PostgresRateLimiterOptions = {}): StoredRates {
  const { monotonic } = clock ?? systemClock;
  const refusals = new LRUCache<string, Refusal>({ max: REFUSED_MAX });
  const now = (): number | null => clock?.now() ?? null;
  const knownMs = (hash: string, rate: Rate): number => {
    const refusal = refusals.get(hash);
    return refusal !== undefined && isSame(refusal.rate, rate) ? wholeMs(refusal.until - monotonic()) : 0;
  };
  return {
    async take(key, rate) {
      const hash = hashOf(key, rate);
      const leftMs = knownMs(hash, rate);
      if (leftMs > 0) return leftMs;
      const values = [hash, rate.per_minute, rate.burst, now()];
      const waitMs = await inDatabase('count the call against its rate limit', async () => {
        const { rows } = await pool.query<{ wait_ms: number }>({ ...RATE_STATEMENTS[rate.algorithm], values });
        const [row] = rows;
        if (row === undefined) throw new Error('A take was answered with no row.');
        return wholeMs(row.wait_ms);
      });
      if (waitMs > 0) refusals.set(hash, { rate, until: monotonic() + waitMs });
      return waitMs;
    },
    knownWaitMs: (key, rate) => knownMs(hashOf(key, rate), rate),
    async giveBack(key, rate) {
      const hash = hashOf(key, rate);
      // What others were refused for can pass now.
      refusals.delete(hash);
      const values = [hash, rate.per_minute, rate.burst];
      await inDatabase('give back what a call took of its rate limit', () =>
        pool.query({ ...rateBack(rate.algorithm), values }),
      );
    },
    forget: (limit) =>
      inDatabase('forget old counts of rates', async () => (await pool.query(FORGET, [limit, now()])).rowCount ?? 0),
  };
}

/** A key may be longer than an index entry, and hold what a column cannot. */
const hashOf = (key: string, { algorithm }: Rate): string => sha256(JSON.stringify([algorithm, key]));

/** Refusals are kept by algorithm and key. */
const isSame = (one: Rate, other: Rate): boolean => one.per_minute === other.per_minute && one.burst === other.burst;
