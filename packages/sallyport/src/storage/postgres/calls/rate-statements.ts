import type { RateAlgorithm } from '../../../../api/schemas/tool-manifest.ts';
import { WHOLE, WINDOW_MS } from '../../../domain/rate/rate.ts';

/** A take as a statement: $1 hash of the key, $2 calls a minute, $3 burst, $4 ms since 1970, or null for now. */
export interface RateStatement {
  readonly name: string;
  readonly text: string;
}

/** How an algorithm counts, in SQL; the same rules as in `domain/rate/rate.ts`. */
interface Counting {
  /** State of a key whose first call passes at `excluded.at`: amount, seconds, calls, ms until it expires. */
  readonly first: readonly [amount: string, seconds: string, calls: string, expiresMs: string];
  /** Relations after `given` (now_at; past_ms since `held.at`), that name wait_ms. */
  readonly from: string;
  /** State after the take: at, amount, seconds, calls, and the time at which it expires. */
  readonly next: readonly [at: string, amount: string, seconds: string, calls: string, expiresAt: string];
}

const after = (at: string, ms: string): string => `${at} + make_interval(secs => (${ms}) / 1000)`;
const PER_MINUTE = '$2::double precision';
const BURST = '$3::double precision';
/** A call counts until all of its second lies a window back. */
const COUNTED_SECONDS = WINDOW_MS / 1000 + 1;

const COUNTINGS: Readonly<Record<RateAlgorithm, Counting>> = {
  token_bucket: {
    first: [`${BURST} - 1`, 'null', 'null', `${WINDOW_MS} / ${PER_MINUTE}`],
    from: `lateral (
      select least(${BURST}, held.amount + past_ms * held.per_minute / ${WINDOW_MS}) as level) filled,
    lateral (
      select case when level >= ${WHOLE} then 0 else (${WHOLE} - level) * ${WINDOW_MS} / ${PER_MINUTE} end as wait_ms) taken,
    lateral (select case when wait_ms > 0 then level else level - 1 end as amount) rest`,
    next: [
      'now_at',
      'rest.amount',
      'null',
      'null',
      after('now_at', `(${BURST} - rest.amount) * ${WINDOW_MS} / ${PER_MINUTE}`),
    ],
  },
  leaky_bucket: {
    first: ['0', 'null', 'null', `${WINDOW_MS} / ${PER_MINUTE}`],
    from: `lateral (select greatest(0, ${WINDOW_MS} / ${PER_MINUTE} * ${WHOLE} - past_ms) as wait_ms) taken,
    lateral (select case when wait_ms > 0 then held.at else now_at end as at) last`,
    next: ['last.at', '0', 'null', 'null', after('last.at', `${WINDOW_MS} / ${PER_MINUTE}`)],
  },
  fixed_window: {
    first: ['1', 'null', 'null', String(WINDOW_MS)],
    from: `lateral (
      select past_ms < ${WINDOW_MS} as is_open) known,
    lateral (
      select case when is_open then held.at else now_at end as at, case when is_open then held.amount else 0 end as count) running,
    lateral (
      select case when count < ${PER_MINUTE} then 0 else ${WINDOW_MS} - past_ms end as wait_ms) taken`,
    next: [
      'running.at',
      'case when wait_ms > 0 then count else count + 1 end',
      'null',
      'null',
      after('running.at', String(WINDOW_MS)),
    ],
  },
  sliding_window: {
    first: ['0', 'array[floor(extract(epoch from at))::bigint]', 'array[1::bigint]', String(COUNTED_SECONDS * 1000)],
    from: `lateral (select floor(extract(epoch from now_at))::bigint as second) present,
    lateral (
      select array_agg(past.second order by past.second) as seconds, array_agg(past.calls order by past.second) as calls,
        coalesce(sum(past.calls), 0) as count
      from unnest(held.seconds, held.calls) as past (second, calls)
      where past.second > present.second - ${COUNTED_SECONDS}) counted,
    lateral (
      select case when count < ${PER_MINUTE} then 0 else (
        select (min(past.second) + ${COUNTED_SECONDS} - extract(epoch from now_at)) * 1000 from (
          select second, sum(calls) over (order by second) as left_by_then
          from unnest(counted.seconds, counted.calls) as each (second, calls)) past
        where past.left_by_then >= count - ${PER_MINUTE} + 1) end::double precision as wait_ms) taken,
    lateral (
      select seconds, calls from (values
        (wait_ms > 0, counted.seconds, counted.calls),
        (wait_ms = 0 and counted.seconds[cardinality(counted.seconds)] = present.second, counted.seconds,
          counted.calls[:cardinality(counted.calls) - 1] || counted.calls[cardinality(counted.calls)] + 1),
        (wait_ms = 0 and counted.seconds[cardinality(counted.seconds)] is distinct from present.second,
          counted.seconds || present.second, counted.calls || 1::bigint)) as choice (holds, seconds, calls)
      where holds) chosen`,
    next: [
      'now_at',
      '0',
      'chosen.seconds',
      'chosen.calls',
      `to_timestamp(chosen.seconds[cardinality(chosen.seconds)] + ${COUNTED_SECONDS})`,
    ],
  },
};

/**
 * One statement: the row's lock serialises simultaneous takes, each judged by the state that the one before left. Time
 * is that of the database, and never goes back for a key. Its commit does not wait for the disk: a crash of the database
 * server may lose the latest counts. The condition on $3 holds always; it gives the parameter its type where an algorithm
 * has no burst.
 */
function statementOf(algorithm: RateAlgorithm): RateStatement {
  const { first, from, next } = COUNTINGS[algorithm];
  const [amount, seconds, calls, expiresMs] = first;
  const text = `
with quick as materialized (select set_config('synchronous_commit', 'off', true)),
given as (
  select coalesce(to_timestamp($4::double precision / 1000), clock_timestamp()) as at from quick)
insert into sallyport.rate_counts as held (key_hash, per_minute, at, amount, seconds, calls, wait_ms, expires_at)
select $1, ${PER_MINUTE}, at, ${amount}, ${seconds}, ${calls}, 0, ${after('at', expiresMs)}
from given where ${BURST} >= 1
on conflict (key_hash) do update set (per_minute, at, amount, seconds, calls, wait_ms, expires_at) = (
  select ${PER_MINUTE}, ${next[0]}, ${next[1]}, ${next[2]}::bigint[], ${next[3]}::bigint[], wait_ms, ${next[4]}
  from (select greatest(held.at, excluded.at) as now_at) instant,
    lateral (select (extract(epoch from now_at - held.at) * 1000)::double precision as past_ms) since,
    ${from})
returning wait_ms`;
  return { name: `sallyport-take-${algorithm}`, text };
}

/** The take of each algorithm. */
export const RATE_STATEMENTS: Readonly<Record<RateAlgorithm, RateStatement>> = {
  token_bucket: statementOf('token_bucket'),
  leaky_bucket: statementOf('leaky_bucket'),
  fixed_window: statementOf('fixed_window'),
  sliding_window: statementOf('sliding_window'),
};

/** How an algorithm gives back what was taken last; a second without a call left counts none. */
const BACK: Readonly<Record<RateAlgorithm, string>> = {
  token_bucket: `amount = least(${BURST}, amount + 1)`,
  leaky_bucket: `at = at - make_interval(secs => ${WINDOW_MS / 1000} / ${PER_MINUTE})`,
  fixed_window: 'amount = greatest(0, amount - 1)',
  sliding_window: 'calls[cardinality(calls)] = calls[cardinality(calls)] - 1',
};

/** Gives back what was taken: $1 hash of the key, $2 calls a minute, $3 burst. */
export const rateBack = (algorithm: RateAlgorithm): RateStatement => ({
  name: `sallyport-give-back-${algorithm}`,
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true))
update sallyport.rate_counts set ${BACK[algorithm]} from quick
where key_hash = $1 and ${PER_MINUTE} > 0 and ${BURST} >= 1`,
});
