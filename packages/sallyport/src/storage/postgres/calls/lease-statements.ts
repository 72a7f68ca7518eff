import { overGivenRows } from './given-rows.ts';

/**
 * No commit of a lease waits for the disk. A later synchronous commit on the same server does (the row in state
 * EXECUTING), and the log reaches the disk in order: a tool that may not run twice is reached only after its lease is
 * as durable as its row.
 */
const QUICK = "quick as materialized (select set_config('synchronous_commit', 'off', true))";
const FROM_NOW = (parameter: string): string => `now() + make_interval(secs => ${parameter}::double precision / 1000)`;
const THIS_CALL = 'tenant_id = $1 and invocation_id = $2';

const statement = (name: string, text: string) => ({ name: `sallyport-lease-${name}`, text });

const given = (name: string, columns: number, text: (given: string) => string) =>
  overGivenRows(`sallyport-lease-${name}`, columns, text);

/** One row for each lease that was taken. In order of key, so that two takers never deadlock. */
export const TAKE = given(
  'take',
  5,
  (rows) => `
with ${QUICK}
insert into sallyport.call_leases as held (tenant_id, invocation_id, instance_id, owner, fence, until)
select tenant_id, invocation_id, instance_id, owner, 1, ${FROM_NOW('ttl_ms')}
from quick, ${rows} as given (tenant_id, invocation_id, instance_id, owner, ttl_ms)
order by tenant_id collate "C", invocation_id collate "C"
on conflict (tenant_id, invocation_id) do update set
  instance_id = excluded.instance_id, owner = excluded.owner, fence = held.fence + 1, until = excluded.until
where held.until <= now()
returning tenant_id, invocation_id, fence::text, begun, preemptions, cancel_reason, extended_ms::text`,
);

/** Locks the named leases in order of key first, for the same reason as TAKE. */
const locked = (rows: string): string => `locked as materialized (
  select lease.tenant_id, lease.invocation_id
  from sallyport.call_leases as lease join ${rows} as given (tenant_id, invocation_id, owner, fence)
    on lease.tenant_id = given.tenant_id and lease.invocation_id = given.invocation_id
      and lease.owner = given.owner and lease.fence = given.fence::bigint
  order by lease.tenant_id collate "C", lease.invocation_id collate "C"
  for update of lease
)`;
const IS_LOCKED = 'lease.tenant_id = locked.tenant_id and lease.invocation_id = locked.invocation_id';

/** One row for each lease that the holder still has. */
export const BEGIN = given(
  'begin',
  4,
  (rows) => `
with ${QUICK}, ${locked(rows)}
update sallyport.call_leases as lease set begun = true from quick, locked where ${IS_LOCKED}
returning lease.tenant_id, lease.invocation_id`,
);

/** One row for each held lease, then one for each request to the instance. */
export const BEAT = statement(
  'beat',
  `
with ${QUICK}, alive as (
  insert into sallyport.instances as held (instance_id, owner, until)
  select $1, $2, ${FROM_NOW('$3')} from quick
  on conflict (instance_id) do update set owner = excluded.owner, until = excluded.until
), given as materialized (
  select * from unnest($4::text[], $5::text[], $6::text[]) as given (tenant_id, invocation_id, progress)
), held as (
  update sallyport.call_leases as lease set
    until = ${FROM_NOW('$3')}, progress = coalesce(given.progress::json, lease.progress)
  from given
  where lease.tenant_id = given.tenant_id and lease.invocation_id = given.invocation_id and lease.owner = $2
  returning lease.tenant_id, lease.invocation_id, lease.fence::text, lease.cancel_reason, lease.extended_ms::text,
    lease.answers
), others as materialized (
  select count(*) from sallyport.instances where until > now() and instance_id <> $1
), requests as (
  delete from sallyport.call_leases where owner is null and instance_id = $1
  returning tenant_id, invocation_id, cancel_reason
)
select true as is_held, held.*, others.count::text as others from held, others
union all
select false, tenant_id, invocation_id, null, cancel_reason, null, null, others.count::text from requests, others
union all
select null, null, null, null, null, null, null, others.count::text from others`,
);

/** A cancel that its holder has not read stays for the next one. */
export const RELEASE = given(
  'release',
  4,
  (rows) => `
with ${QUICK}, ${locked(rows)}, gone as (
  delete from sallyport.call_leases as lease using quick, locked where ${IS_LOCKED} and lease.cancel_reason is null
)
update sallyport.call_leases as lease set until = '-infinity', owner = '', begun = false, progress = null
from quick, locked where ${IS_LOCKED} and lease.cancel_reason is not null`,
);

export const PUT_BACK = statement(
  'put-back',
  `
update sallyport.call_leases set until = '-infinity', owner = '', begun = false, preemptions = preemptions + $5::int,
  progress = null
where ${THIS_CALL} and owner = $3 and fence = $4::bigint`,
);

export const FORGET_ENDED = statement(
  'forget-ended',
  `
with ${QUICK}
delete from sallyport.call_leases as lease using quick, sallyport.tool_invocations as call
where lease.until <= now() and lease.owner is not null and call.is_final
  and call.tenant_id = lease.tenant_id and call.invocation_id = lease.invocation_id`,
);

export const FIND = statement(
  'find',
  `
select until > now() as live, progress from sallyport.call_leases
where ${THIS_CALL} and owner is not null`,
);

export const NOTIFY_HOLDER = statement(
  'notify-holder',
  `
update sallyport.call_leases set
  cancel_reason = coalesce($3, cancel_reason), extended_ms = extended_ms + $4::bigint,
  answers = case when $5::jsonb is null then answers else coalesce(answers, '{}') || $5::jsonb end
where ${THIS_CALL} and until > now()`,
);

export const NOTIFY_INSTANCE = statement(
  'notify-instance',
  `
insert into sallyport.call_leases as held (tenant_id, invocation_id, instance_id, fence, until, cancel_reason)
values ($1, $2, $3, 0, '-infinity', $4)
on conflict (tenant_id, invocation_id) do update set cancel_reason = excluded.cancel_reason`,
);

export const UNATTENDED = statement(
  'unattended',
  `
select call.tenant_id, call.invocation_id, round(extract(epoch from call.accepted_at) * 1000)::text as accepted_ms
from sallyport.tool_invocations as call left join sallyport.call_leases as lease using (tenant_id, invocation_id)
where call.waits_for = 'worker' and case when lease.owner is null
  then call.accepted_at <= now() - make_interval(secs => $2::double precision / 1000) else lease.until <= now() end
order by call.accepted_at, call.tenant_id collate "C", call.invocation_id collate "C" limit $1::int`,
);

export const END_FORMER_LIVES = statement(
  'end-former-lives',
  `
update sallyport.call_leases set until = '-infinity'
where instance_id = $1 and owner <> $2 and owner <> '' and until > now()`,
);

export const TAKE_DEAD_INSTANCES = statement(
  'take-dead-instances',
  `
update sallyport.instances set owner = $2, until = ${FROM_NOW('$3')}
where until <= now() and instance_id <> $1 returning instance_id`,
);

export const FORGET_INSTANCE = statement(
  'forget-instance',
  `
with gone as (delete from sallyport.instances where instance_id = $1 and owner = $2 returning instance_id)
delete from sallyport.call_leases as lease using gone where lease.instance_id = gone.instance_id and lease.owner is null`,
);
