import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Authorized, CallRequest, Prepared, Reserved, Resolved } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** Fetches the granted credentials. The executor makes its own sandbox, if it needs one, under the call's deadline. */
export function prepare({
  secrets,
}: Pick<PipelineParts, 'secrets'>): Stage<CallRequest & Resolved & Authorized & Reserved, Prepared> {
  return {
    name: 'prepare',
    takes: 'the granted credentials from the secret store',
    async run({ caller, request, principal, grant }, { controller }) {
      if (grant.credentials.length === 0) return { secrets: NO_SECRETS };
      // The user that `identify` established: a credential may be that user's own (PRM-11).
      const asker = { token: caller.token ?? request.capability_token, signal: controller.signal };
      try {
        return { secrets: await secrets.read(principal.tenantId, grant.credentials, asker) };
      } catch (thrown) {
        return failureOf(thrown);
      }
    },
  };
}
