import type { ColumnType, Generated } from 'kysely';
import type { DeprecationState } from '../../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { EventDraft } from '../../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { WaitFor } from '../../../domain/invocation/waiting-call.ts';
import type { StateChange } from '../../../domain/tool/tool-version.ts';
import type { GrantedClaims } from '../../../identity/api-keys.port.ts';
import type { RevocationKind } from '../../../identity/revocations.port.ts';
import type { BlockReason, ServedDefinition } from '../../../mcp-servers/quarantine-store.port.ts';
import type {
  ApprovalClosing,
  StoredDelegation,
  StoredLink,
  StoredRule,
  StoredVote,
} from '../../../orchestration/approval-store.port.ts';
import type { Compensation } from '../../../orchestration/compensation-store.port.ts';
import type { OutcomeSettlement } from '../../../pipeline/outcome-store.port.ts';
import type { RuleKind } from '../../../visibility/visibility-store.port.ts';
import type { PackedEvents } from '../ledger/packed-events.ts';

/** Schema with all tables of the layer, separate from other contents of the database. */
export const SCHEMA = 'sallyport';

/** Read as a value, written as JSON text: a `json` column keeps the text unchanged, with \u0000 and numbers. */
type Json<T> = ColumnType<T, string, string>;
/** `pg` reads a bigint as text. */
type Bigint = ColumnType<string, number, number>;
type Time = ColumnType<Date, Date | string, Date | string>;

/** Texts of users about a version's lifecycle. */
interface StoredLifecycle {
  readonly migrationGuide?: string;
  readonly stateChanges?: readonly StateChange[];
}

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
    revision: Bigint;
    registered_by: string | null;
    deprecated_at: ColumnType<Date | null, string | null, string | null>;
    removable_at: ColumnType<Date | null, string | null, string | null>;
    last_used_at: ColumnType<Date | null, string | null, string | null>;
    lifecycle: Json<StoredLifecycle>;
    unrecorded_since: ColumnType<Date | null, string | null, string | null>;
  };
  'sallyport.tool_invocations': {
    tenant_id: string;
    invocation_id: string;
    tool_id: string;
    instance_id: string;
    is_final: boolean;
    accepted_at: Time;
    record: Json<InvocationRecord>;
    waits_for: WaitFor['for'] | null;
    fence: Bigint;
    turn_group: string | null;
    side_effect_policy: string | null;
    state: string;
    agent_did: string;
    result_forgotten: Generated<boolean>;
    nonce: string | null;
    deferred: Generated<boolean>;
  };
  'sallyport.outcome_settlements': {
    tenant_id: string;
    invocation_id: string;
    settlement: Json<OutcomeSettlement>;
    settled_at: Generated<Date>;
    result_forgotten: Generated<boolean>;
  };
  'sallyport.call_leases': {
    tenant_id: string;
    invocation_id: string;
    instance_id: string;
    owner: string | null;
    fence: Bigint;
    until: Time;
  };
  'sallyport.instances': { instance_id: string; owner: string; until: Time };
  'sallyport.audit_events': {
    position: Bigint;
    chain_id: string;
    first_seq: Bigint;
    last_seq: Bigint;
    tenant_id: string;
    /** The type of each event, separated by spaces. */
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
  'sallyport.skill_contents': {
    tenant_id: string;
    sha256: Buffer;
    bytes: number;
    put_at: Generated<Date>;
    content: Buffer;
  };
  'sallyport.unrecorded_events': {
    event_id: string;
    tenant_id: string;
    kept_at: Generated<Date>;
    after_position: Generated<string>;
    draft: Json<EventDraft>;
  };
  'sallyport.sink_positions': { sink: string; position: Bigint };
  'sallyport.idempotency_keys': {
    tenant_id: string;
    key_hash: string;
    request_hash: string;
    invocation_id: string;
    expires_at: Time;
    instance_id: string | null;
    nonce: string;
  };
  'sallyport.upstreams': {
    tenant_id: string;
    name: string;
    definition: Json<UpstreamDefinition>;
    updated_at: Generated<Date>;
  };
  'sallyport.upstream_authorizations': {
    tenant_id: string;
    upstream: string;
    part: string;
    content: string;
    revision: Bigint;
    claimed_until: Date | null;
  };
  'sallyport.upstream_tools': {
    tenant_id: string;
    tool_id: string;
    upstream: string;
    tool: string;
    accepted_hash: string | null;
    version: string | null;
    rejected_hash: string | null;
    block: BlockReason | null;
    served: ColumnType<ServedDefinition | null, string | null, string | null>;
    noticed_at: Time;
    revision: string;
  };
  'sallyport.visibility_rules': {
    tenant_id: string;
    kind: RuleKind;
    key_hash: string;
    key: string;
    rule: Json<object>;
    updated_at: Generated<Date>;
  };
  'sallyport.visibility_revision': { only_row: Generated<boolean>; revision: Bigint };
  'sallyport.identity_revisions': { kind: 'revocations' | 'api-keys'; revision: Bigint };
  'sallyport.revocations': {
    tenant_id: string;
    kind: RevocationKind;
    subject_hash: string;
    revocation_id: string;
    subject: string;
    issued_before: number | null;
    expires_at: ColumnType<Date | null, Date | null, Date | null>;
    revoked_at: Time;
    revoked_by: string;
    reason: string | null;
    lifted_at: ColumnType<Date | null, Date | null, Date | null>;
    revision: Bigint;
  };
  'sallyport.api_keys': {
    key_id: string;
    tenant_id: string;
    name: string;
    key_hash: string;
    prefix: string;
    claims: Json<GrantedClaims>;
    created_at: Time;
    created_by: string;
    expires_at: ColumnType<Date | null, Date | null, Date | null>;
    revoked_at: ColumnType<Date | null, Date | null, Date | null>;
    last_used_at: ColumnType<Date | null, Date | null, Date | null>;
    revision: Bigint;
  };
  'sallyport.approval_votes': {
    tenant_id: string;
    approval_id: string;
    approver_hash: string;
    voted_at: Time;
    vote: Json<StoredVote>;
  };
  'sallyport.approval_closings': {
    tenant_id: string;
    approval_id: string;
    closed_at: Time;
    closing: Json<ApprovalClosing>;
    holder: ColumnType<string | null, string | null | undefined, string | null>;
    claimed_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
    noted: Generated<boolean>;
    finished: Generated<boolean>;
  };
  'sallyport.approval_notices': {
    tenant_id: string;
    approval_id: string;
    level: number;
    invocation_id: string;
    since: Generated<Date>;
    claimed_at: Time;
    notified: Generated<boolean>;
  };
  'sallyport.approval_delegations': {
    tenant_id: string;
    delegation_id: string;
    made_at: Time;
    until: Time;
    ended: Generated<boolean>;
    delegation: Json<StoredDelegation>;
  };
  'sallyport.approval_rules': {
    tenant_id: string;
    rule_id: string;
    expires_at: Time;
    revoked: Generated<boolean>;
    revision: Bigint;
    rule: Json<StoredRule>;
  };
  'sallyport.approval_rules_revision': { only_row: Generated<boolean>; revision: Bigint };
  'sallyport.approval_links': {
    link_hash: string;
    expires_at: Time;
    used: Generated<boolean>;
    link: Json<StoredLink>;
  };
  'sallyport.compensations': {
    tenant_id: string;
    invocation_id: string;
    attempt: number;
    state: Compensation['state'];
    started_at: Time;
    compensation: Json<Compensation>;
  };
  'sallyport.tool_state': {
    tenant_id: string;
    owner_id: string;
    tool_id: string;
    name: string;
    revision: Bigint;
    value: string | null;
    held_by: string | null;
    fence: Bigint | null;
    next: string | null;
  };
  'sallyport.quota_sessions': { tenant_id: string; session_hash: string; calls: Bigint; expires_at: Time };
}
