import { type Static, Type } from 'typebox';
import { AgentDid, JsonObject, ToolId } from '../identifiers.ts';

export const ToolContextRequest = Type.Object(
  {
    tool_id: ToolId,
    agent_id: Type.Optional(
      Type.Unsafe<string>({ ...AgentDid, description: 'Another agent than the asker; needs a role.' }),
    ),
    user_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'The user for whom that other agent acts, if any.' }),
    ),
    session_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Default: the session of the asker's own token." }),
    ),
  },
  { additionalProperties: false },
);
export type ToolContextRequest = Static<typeof ToolContextRequest>;

/** EXT-04: what a tool has of the agent that calls it (003 task 1). No value of a secret is in it. */
export const ToolContext = Type.Object(
  {
    credentials: Type.Record(Type.String(), Type.String(), {
      description: '<name>_ref: a reference to each secret that the tool asks for, secret://<name>. Never its value.',
    }),
    config: Type.Object(
      {
        timeout: Type.Number({ description: 'Of a call that names none, in ms.' }),
        retry_max_attempts: Type.Integer(),
        rate_limit_per_minute: Type.Optional(
          Type.Integer({ description: 'Absent: the tool has no limit of its own.' }),
        ),
      },
      { additionalProperties: false },
    ),
    session_context: Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description: 'What the agent has saved of the session at the context server; remembered for five minutes.',
    }),
  },
  { additionalProperties: false, title: 'Context of a tool' },
);
export type ToolContext = Static<typeof ToolContext>;
