import { type Static, Type } from 'typebox';
import { Timestamp } from '../identifiers.ts';

/** CIR-01. `forced_open` and `disabled` are set by people. */
export const CircuitState = Type.Enum(['closed', 'open', 'half_open', 'forced_open', 'disabled']);
export type CircuitState = Static<typeof CircuitState>;

const CircuitName = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'api.example.com, localhost:8080, mcp:UPSTREAM or tool:ID@VERSION.',
});
const Percent = Type.Number({ minimum: 0, maximum: 100 });

/** What stands between calls and one service, for one tenant. */
export const Circuit = Type.Object(
  {
    name: CircuitName,
    state: CircuitState,
    since: Timestamp,
    call_count: Type.Integer({
      description:
        'Calls in the window; in the one that opened it while it is open, of the trials while it is half open.',
    }),
    failure_count: Type.Integer(),
    slow_call_count: Type.Integer(),
    failure_rate: Percent,
    slow_call_rate: Percent,
    last_failure_at: Type.Optional(Timestamp),
    retry_after_ms: Type.Optional(Type.Integer({ description: 'While it is open: until the first trial call.' })),
    trials: Type.Optional(
      Type.Object(
        {
          share: Type.Integer({ description: 'Percent of the calls that is let through now.' }),
          permitted: Type.Integer({ description: 'Trials at this share.' }),
          completed: Type.Integer({ description: 'Of those, how many ended.' }),
          under_way: Type.Integer(),
          succeeded: Type.Integer({ description: 'At all shares so far.' }),
        },
        { additionalProperties: false, description: 'While it is half open.' },
      ),
    ),
    config: Type.Object(
      {
        failure_rate_threshold: Percent,
        slow_call_rate_threshold: Percent,
        slow_call_duration_threshold_ms: Type.Integer(),
        consecutive_failures_threshold: Type.Integer(),
        sliding_window_type: Type.Enum(['count_based', 'time_based']),
        sliding_window_size: Type.Integer(),
        minimum_number_of_calls: Type.Integer(),
        wait_duration_in_open_state_seconds: Type.Number(),
        permitted_number_of_calls_in_half_open_state: Type.Integer(),
        half_open_strategy: Type.Enum(['canary', 'all_or_nothing']),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false, title: 'Circuit' },
);
export type Circuit = Static<typeof Circuit>;

export const CircuitListRequest = Type.Object(
  {
    state: Type.Optional(CircuitState),
    after: Type.Optional(
      Type.String({ maxLength: 512, description: 'Go on after this one: `next` of the page before.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many.' })),
  },
  { additionalProperties: false },
);
export type CircuitListRequest = Static<typeof CircuitListRequest>;

/** By name. */
export const CircuitListResponse = Type.Object(
  { circuits: Type.Array(Circuit), next: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type CircuitListResponse = Static<typeof CircuitListResponse>;

export const CircuitNameRequest = Type.Object({ name: CircuitName }, { additionalProperties: false });
export type CircuitNameRequest = Static<typeof CircuitNameRequest>;

export const CircuitSetRequest = Type.Object(
  {
    name: CircuitName,
    state: Type.Enum(['closed', 'forced_open', 'disabled'], {
      description: 'closed begins anew, forced_open lets nothing through, disabled lets everything through.',
    }),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'Why, for the record.' })),
  },
  { additionalProperties: false },
);
export type CircuitSetRequest = Static<typeof CircuitSetRequest>;
