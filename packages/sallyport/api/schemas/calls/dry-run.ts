import { type Static, Type } from 'typebox';
import { TrustLevel } from '../capability-token.ts';
import { ToolErrorBody } from '../error.ts';
import { InvocationPhase, Warning } from '../invocation.ts';
import { RecordedDecision } from '../policy.ts';
import { SideEffectPolicy } from '../tool-manifest.ts';

const DecisionOfGate = Type.Object(
  {
    allowed: Type.Boolean(),
    answer: Type.Enum(['ALLOW', 'DENY', 'UNANSWERED']),
    because: Type.Optional(Type.String({ description: 'Why there is no answer.' })),
  },
  { additionalProperties: false },
);

const StageOutcome = Type.Object(
  {
    stage: Type.String(),
    outcome: Type.Enum(['passed', 'refused', 'not_taken', 'not_reached']),
    takes: Type.Optional(Type.String({ description: 'What the stage would have taken; a dry run takes nothing.' })),
  },
  { additionalProperties: false },
);

const GrantOfCall = Type.Object(
  {
    capabilities: Type.Array(Type.String()),
    timeout_ms: Type.Number(),
    cpu_millicores: Type.Number(),
    memory_mb: Type.Number(),
    output_bytes_max: Type.Number(),
  },
  { additionalProperties: false },
);

/** What would become of a call, and why; nothing of it was run or taken (PIPE-15). */
export const DryRunResponse = Type.Object(
  {
    would: Type.Enum(['run', 'ask', 'refuse'], {
      description: 'ask: it would wait for a person. run: as far as is known without running it.',
    }),
    tool_id: Type.String(),
    tool_version: Type.Optional(Type.String()),
    side_effect_policy: Type.Optional(SideEffectPolicy),
    phase: Type.Optional(InvocationPhase),
    trust: Type.Optional(TrustLevel),
    stages: Type.Array(StageOutcome),
    grant: Type.Optional(GrantOfCall),
    policy_decision: Type.Optional(RecordedDecision),
    gate_decision: Type.Optional(DecisionOfGate),
    hooks: Type.Optional(
      Type.Array(
        Type.Object(
          { id: Type.String(), outcome: Type.Enum(['allow', 'refuse', 'rewrite', 'failed']) },
          { additionalProperties: false },
        ),
      ),
    ),
    error: Type.Optional(ToolErrorBody),
    warnings: Type.Optional(Type.Array(Warning)),
  },
  { additionalProperties: false, title: 'tool.dry_run response' },
);
export type DryRunResponse = Static<typeof DryRunResponse>;
