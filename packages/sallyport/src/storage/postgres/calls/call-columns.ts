import type { CallKey } from '../../../domain/invocation/call-key.ts';
import { keyText } from '../key-text.ts';

/** The key of a call as columns hold it. */
export interface CallColumns {
  readonly tenant: string;
  readonly invocation: string;
}

/** First columns of the rows of every table of calls. */
export interface CallRow {
  readonly tenant_id: string;
  readonly invocation_id: string;
}

export function columnsOf({ tenantId, invocationId }: CallKey): CallColumns {
  return { tenant: keyText(tenantId), invocation: keyText(invocationId) };
}

/** One text for each call. */
export function keyOf({ tenant, invocation }: CallColumns): string {
  return `${tenant.length} ${tenant}${invocation}`;
}

/** Rows by the key of their call. */
export function byKey<Row extends CallRow>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [keyOf({ tenant: row.tenant_id, invocation: row.invocation_id }), row]));
}
