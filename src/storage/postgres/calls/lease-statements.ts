/**
 * No commit of a lease waits for the disk. What follows under it on the same server does (the row in state EXECUTING), and
 * what is on the disk of a log is never behind what came before it: a tool that may not run twice is reached only after its
 * lease stands as firmly as its row.
 */
const QUICK = "quick as materialized (select set_config('synchronous_commit', 'off', true))";
const FROM_NOW = (parameter: string): string => `now() + make_interval(secs => ${parameter}::double precision / 1000)`;
const THIS_CALL = 'tenant_id = $1 and invocation_id = $2';

const statement = (name: string, text: string) => ({ name: `sallyport-lease-${name}`, text });

export const TAKE = statement(
  'take',
  `
with ${QUICK}
insert into sallyport.call_leases as held (tenant_id, invocation_id, instance_id, owner, fence, until)
select $1, $2, $3, $4, 1, ${FROM_NOW('$5')} from quick
on conflict (tenant_id, invocation_id) do update set
  instance_id = excluded.instance_id, owner = excluded.owner, fence = held.fence + 1, until = excluded.until
where held.until <= now()
returning fence::text, begun, preemptions, cancel_reason, extended_ms::text`,
);

export const BEGIN = statement(
  'begin',
  `
with ${QUICK}
update sallyport.call_leases set begun = true from quick
where ${THIS_CALL} and owner = $3 and fence = $4::bigint`,
);

/** One row for each lease that is held, then one for each word to the instance. */
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
  update sallyport.call_leases as lease set until = ${FROM_NOW('$3')}, progress = coalesce(
    (select progress::json from given where given.tenant_id = lease.tenant_id and given.invocation_id = lease.invocation_id),
    lease.progress)
  where lease.owner = $2
  returning tenant_id, invocation_id, fence::text, cancel_reason, extended_ms::text
), others as materialized (
  select count(*) from sallyport.instances where until > now() and instance_id <> $1
), told as (
  delete from sallyport.call_leases where owner is null and instance_id = $1
  returning tenant_id, invocation_id, cancel_reason
)
select true as is_held, held.*, others.count::text as others from held, others
union all
select false, tenant_id, invocation_id, null, cancel_reason, null, others.count::text from told, others
union all
select null, null, null, null, null, null, others.count::text from others`,
);

export const RELEASE = statement(
  'release',
  `
with ${QUICK}
delete from sallyport.call_leases using quick where ${THIS_CALL} and owner = $3 and fence = $4::bigint`,
);

export const PUT_BACK = statement(
  'put-back',
  `
update sallyport.call_leases set until = '-infinity', owner = '', begun = false, preemptions = preemptions + 1,
  progress = null
where ${THIS_CALL} and owner = $3 and fence = $4::bigint`,
);

export const FIND = statement(
  'find',
  `
select instance_id, until > now() as live, fence::text, progress from sallyport.call_leases
where ${THIS_CALL} and owner is not null`,
);

export const TELL = statement(
  'tell',
  `
update sallyport.call_leases set
  cancel_reason = coalesce($3, cancel_reason), extended_ms = extended_ms + $4::bigint
where ${THIS_CALL} and until > now()`,
);

export const TELL_INSTANCE = statement(
  'tell-instance',
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
