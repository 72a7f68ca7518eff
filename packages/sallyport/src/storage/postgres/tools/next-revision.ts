import { sql } from 'kysely';

/** Arbitrary, but the same in every version of the layer. */
const REVISION_LOCK = 5_317_002;

/**
 * Two expressions of a WITH clause; the second, `next_revision`, is one row with the revision for the rows being
 * written. The lock is held until the commit, so revisions become visible in order, and a reader of a later one has
 * missed no earlier one.
 */
export const nextRevision = sql.raw(`
revision_lock as materialized (select pg_advisory_xact_lock(${REVISION_LOCK})),
next_revision as materialized (select nextval('sallyport.tool_revisions') as next_revision from revision_lock)`);
