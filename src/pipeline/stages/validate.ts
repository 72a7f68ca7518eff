import { failure, isFailure } from '../../domain/error/failure.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { sha256 } from '../../std/sha256.ts';
import type { Admitted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

/** Fields in which a model thinks aloud; nothing behind this stage ever sees them (MOD-02). */
const THINK_FIELD = '_tafc_think';

/** Stage 3: the arguments match the tool's schema, converted where that loses nothing (VAL-01, VAL-02). */
export function validate({ schemas }: Pick<PipelineParts, 'schemas'>): Stage<Admitted & Resolved, Validated> {
  return {
    name: 'validate',
    reaches: 'VALIDATED',
    run({ givenParameters, tool }) {
      const schema = schemas.compile(tool.manifest.parameters_schema);
      if (isFailure(schema)) return schema;
      const { value, faults } = schema.check(withoutThoughts(givenParameters), { coerce: true });
      if (faults.length > 0) {
        const places = faults.length === 1 ? 'One argument has a fault' : `${faults.length} faults in the arguments`;
        return failure('E3509', `${places}: ${faults.slice(0, 3).map(inWords).join('; ')}`, { details: { faults } });
      }
      const parameters = value as Readonly<Record<string, unknown>>;
      return { parameters, inputHash: sha256(canonicalJson(parameters)) };
    },
  };
}

const inWords = ({ path, message, hint }: { path: string; message: string; hint?: string }): string =>
  `${path === '' ? 'the arguments' : path} ${message}${hint === undefined ? '' : ` (${hint})`}`;

function withoutThoughts(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const name in parameters) {
    if (name.startsWith(THINK_FIELD)) {
      return Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(THINK_FIELD)));
    }
  }
  return parameters;
}
