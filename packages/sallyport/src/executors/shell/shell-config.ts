import { type Static, Type } from 'typebox';

/** Ends beside exit codes after which a transaction is rolled back. */
const RollbackCause = Type.Enum(['timeout', 'cancel', 'violation', 'signal', 'bad_output']);
export type RollbackCause = Static<typeof RollbackCause>;

/** What a transaction secures, and when it is rolled back (002, transactional shell). */
export const TransactionConfig = Type.Object(
  {
    auto_rollback: Type.Optional(
      Type.Boolean({ description: 'Default true. false switches the transaction off: no snapshot is taken.' }),
    ),
    transaction_scope: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        minItems: 1,
        maxItems: 64,
        description: 'Globs of the files that are secured, from each granted rw folder on. Default ["**"].',
      }),
    ),
    auto_rollback_exit_codes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), {
        maxItems: 256,
        description: 'Exit codes after which the files are restored. Default [1, 2].',
      }),
    ),
    rollback_on: Type.Optional(
      Type.Array(RollbackCause, {
        maxItems: 5,
        description:
          'Other ends after which they are. Default [timeout, cancel, violation, signal]; bad_output: JSON that is none.',
      }),
    ),
    snapshot_required: Type.Optional(
      Type.Boolean({
        description: 'Whether the command is refused (E3110) when no snapshot can be taken. Default false.',
      }),
    ),
    max_snapshot_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Most bytes of content that a snapshot holds; 0 (default): no bound.' }),
    ),
  },
  { additionalProperties: false },
);
export type TransactionConfig = Static<typeof TransactionConfig>;

const NO_NUL = '^[^\\u0000]*$';
const Text = Type.String({ maxLength: 65_536, pattern: NO_NUL });

/** `executor.config` of a tool of kind `shell`. */
export const ShellConfig = Type.Object(
  {
    command: Type.Array(Text, {
      minItems: 1,
      maxItems: 256,
      description:
        'Program and arguments; nothing is read by a shell. {name} stands for the text of a parameter, {{name}} for itself. ' +
        'An argument whose parameter was not given is left out; an array that fills an argument alone becomes several.',
    }),
    stdin: Type.Optional(
      Type.String({
        pattern: '^(?:checkpoints|json|none|\\{[A-Za-z_][A-Za-z0-9_.-]*\\})$',
        description:
          'json: all parameters as one JSON object; {name}: the text of one; none (default): nothing; checkpoints: the ' +
          'tool saves checkpoints, and gets the state to continue from and an answer to each of them.',
      }),
    ),
    environment: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Text, {
        additionalProperties: false,
        description: 'Fixed variables. Granted secrets are added under their own names.',
      }),
    ),
    working_directory: Type.Optional(
      Type.String({
        pattern: '^/[^\\u0000]*$',
        description: 'Absolute path of or in a granted folder, or /tmp, the default.',
      }),
    ),
    output: Type.Optional(
      Type.Enum(['envelope', 'text', 'json'], {
        description:
          'envelope (default): {stdout, stderr, exit_code, truncated}; text: stdout; json: stdout as a value.',
      }),
    ),
    success_exit_codes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), {
        minItems: 1,
        maxItems: 256,
        description: 'Default [0].',
      }),
    ),
    allow_leading_dash: Type.Optional(
      Type.Boolean({ description: 'Whether a value may look like an option. Default false.' }),
    ),
    transaction: Type.Optional(TransactionConfig),
  },
  { additionalProperties: false },
);
export type ShellConfig = Static<typeof ShellConfig>;
