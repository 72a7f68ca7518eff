import { failureOf } from '../../domain/error/tool-layer-error.ts';
import type { Authorized, Prepared, Reserved, Resolved } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** Stage 8: the granted credentials. A sandbox is made by the executor that needs one, under the call's own deadline. */
export function prepare({
  secrets,
}: Pick<PipelineParts, 'secrets'>): Stage<Resolved & Authorized & Reserved, Prepared> {
  return {
    name: 'prepare',
    takes: 'the granted credentials from the secret store',
    run({ principal, grant }) {
      if (grant.credentials.length === 0) return { secrets: NO_SECRETS };
      return secrets.read(principal.tenantId, grant.credentials).then((values) => ({ secrets: values }), failureOf);
    },
  };
}
