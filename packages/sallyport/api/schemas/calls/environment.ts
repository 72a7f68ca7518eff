import { type Static, Type } from 'typebox';

/** Environment variables of one call, by name (EXE-10). */
export const CallEnvironment = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  Type.String({ maxLength: 32_768, pattern: '^[^\\u0000]*$' }),
  {
    additionalProperties: false,
    maxProperties: 64,
    description:
      'Variables for this call of a skill, or of a tool that names them in execution_config.call_variables. Never secrets.',
  },
);
export type CallEnvironment = Static<typeof CallEnvironment>;
