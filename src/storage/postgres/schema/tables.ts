import type { ColumnType, Generated } from 'kysely';
import type { DeprecationState } from '../../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { PackedEvents } from '../ledger/packed-events.ts';

/** Schema that holds everything of the layer, beside whatever else the database holds. */
export const SCHEMA = 'sallyport';

/** Read as a value, written as JSON text: a `json` column keeps the text, with \u0000 and numbers as they were. */
type Json<T> = ColumnType<T, string, string>;
/** `pg` reads a bigint as text. */
type Bigint = ColumnType<string, number, number>;
type Time = ColumnType<Date, Date | string, Date | string>;

/** The tables as queries see them; migrations/ makes them. */
export interface Tables {
  'sallyport.tool_versions': {
    tenant_id: string;
    tool_id: string;
    version: string;
    content_hash: string;
    state: DeprecationState;
    deprecated_in_favor_of: string | null;
    registered_at: Time;
    manifest: Json<ToolManifest>;
  };
  'sallyport.tool_invocations': {
    tenant_id: string;
    invocation_id: string;
    instance_id: string;
    is_final: boolean;
    accepted_at: Time;
    record: Json<InvocationRecord>;
  };
  'sallyport.audit_events': {
    position: Bigint;
    chain_id: string;
    first_seq: Bigint;
    last_seq: Bigint;
    tenant_id: string;
    /** One for each event, with a space between them. */
    types: string;
    invocation_id: string | null;
    tool_id: string | null;
    agent_did: string | null;
    events: Json<PackedEvents>;
  };
  'sallyport.audit_checkpoints': {
    chain_id: string;
    seq: Bigint;
    hash: string;
    time: string;
    key_id: string;
    signature: string;
  };
  'sallyport.sink_positions': { sink: string; position: Bigint };
  'sallyport.idempotency_keys': {
    tenant_id: string;
    key_hash: string;
    request_hash: string;
    invocation_id: string;
    expires_at: Time;
  };
  'sallyport.upstreams': {
    tenant_id: string;
    name: string;
    definition: Json<UpstreamDefinition>;
    updated_at: Generated<Date>;
  };
}
