import { type Static, Type } from 'typebox';
import { InvocationId } from '../identifiers.ts';
import { AgentContext, Warning } from '../invocation.ts';

export const OverflowRequest = Type.Object(
  {
    invocation_id: InvocationId,
    offset: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: 'First character, as next_offset or a warning says it.' }),
    ),
    tokens_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, default: 10_000, description: 'Estimated tokens to give at most.' }),
    ),
    own: Type.Optional(Type.Boolean({ description: 'True: only a call of the own.' })),
    agent_context: Type.Optional(AgentContext),
  },
  { additionalProperties: false },
);
export type OverflowRequest = Static<typeof OverflowRequest>;

/** A page of the whole text of a result that was shortened (MOD-06). */
export const OverflowPage = Type.Object(
  {
    invocation_id: InvocationId,
    text: Type.String({ description: 'A result that is no text is here as JSON.' }),
    offset: Type.Integer(),
    next_offset: Type.Optional(Type.Integer({ description: 'Where the next page begins; absent on the last one.' })),
    characters: Type.Integer({ description: 'Of the whole text, in UTF-16 units.' }),
    warnings: Type.Optional(Type.Array(Warning)),
  },
  { additionalProperties: false },
);
export type OverflowPage = Static<typeof OverflowPage>;

/** Use of the output filters in the instance that answers, since its start (MOD-06). */
export const OutputFilterList = Type.Object(
  {
    filters: Type.Array(
      Type.Object(
        {
          filter: Type.String(),
          full: Type.Integer({ description: 'Results of which it knew every line.' }),
          partial: Type.Integer({ description: 'Results of which it knew some lines.' }),
          fallback: Type.Integer({ description: 'Results that it left as they were.' }),
          characters_before: Type.Integer(),
          characters_after: Type.Integer(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
