import { type Static, Type } from 'typebox';
import { CloudEvent, EventType } from './cloud-event.ts';

export const AuditQuery = Type.Object(
  {
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Position of the last event already seen.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    newest: Type.Optional(Type.Boolean({ description: 'The last `limit` events instead of the first after `after`.' })),
    invocation_id: Type.Optional(Type.String()),
    tool_id: Type.Optional(Type.String()),
    agent_did: Type.Optional(Type.String()),
    type: Type.Optional(EventType),
  },
  { additionalProperties: false },
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditPage = Type.Object(
  {
    events: Type.Array(CloudEvent),
    next: Type.Integer({ description: 'Position to ask from next; unchanged when nothing came.' }),
  },
  { additionalProperties: false },
);
export type AuditPage = Static<typeof AuditPage>;

export const ChainReport = Type.Object(
  {
    chain_id: Type.String(),
    events: Type.Integer(),
    checkpoints: Type.Integer(),
    whole: Type.Boolean(),
    first_broken: Type.Optional(
      Type.Object(
        { seq: Type.Integer(), event_id: Type.Optional(Type.String()), reason: Type.String() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ChainReport = Static<typeof ChainReport>;

/** AUD-03: what `audit verify` found. */
export const AuditVerification = Type.Object(
  { whole: Type.Boolean(), events: Type.Integer(), chains: Type.Array(ChainReport) },
  { additionalProperties: false },
);
export type AuditVerification = Static<typeof AuditVerification>;
