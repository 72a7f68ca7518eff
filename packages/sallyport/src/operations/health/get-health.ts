import { Health } from '../../../api/schemas/health.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Readiness of the layer, and the state of each part. */
export const getHealth = operation({
  name: 'health',
  summary: 'Health of the layer',
  method: 'GET',
  path: '/healthz',
  status: 200,
  access: 'open',
  input: NoInput,
  output: Health,
  run:
    ({ health }: Pick<OperationParts, 'health'>) =>
    () =>
      health(),
});
