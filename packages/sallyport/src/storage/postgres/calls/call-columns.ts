import type { CallKey } from '../../../domain/invocation/call-key.ts';
import { keyText } from '../key-text.ts';

/** A call as its columns say it. */
export interface CallColumns {
  readonly tenant: string;
  readonly invocation: string;
}

/** What a row of any table of calls begins with. */
export interface CallRow {
  readonly tenant_id: string;
  readonly invocation_id: string;
}

export function columnsOf({ tenantId, invocationId }: CallKey): CallColumns {
  return { tenant: keyText(tenantId), invocation: keyText(invocationId) };
}

/** One text for one call. */
export function keyOf({ tenant, invocation }: CallColumns): string {
  return `${tenant.length} ${tenant}${invocation}`;
}

/** Rows by the key of their call. */
export function byKey<Row extends CallRow>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [keyOf({ tenant: row.tenant_id, invocation: row.invocation_id }), row]));
}
