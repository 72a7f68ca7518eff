import { type Static, Type } from 'typebox';

/** OPS-03. `ready` is false while the layer starts, drains, or has lost its database. */
export const Health = Type.Object(
  {
    status: Type.Enum(['starting', 'ready', 'degraded', 'draining']),
    ready: Type.Boolean(),
    /** Why it is not ready; absent while it is. */
    reason: Type.Optional(Type.String()),
    version: Type.String(),
    uptime_seconds: Type.Number(),
    parts: Type.Record(
      Type.String(),
      Type.Object(
        {
          ok: Type.Boolean(),
          message: Type.Optional(Type.String()),
          /** Of the sandbox: limits that this machine cannot keep in full. Absent when all are. */
          weaker_limits: Type.Optional(Type.Array(Type.String())),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Health = Static<typeof Health>;
