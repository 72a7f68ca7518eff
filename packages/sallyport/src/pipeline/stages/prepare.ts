import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Authorized, CallRequest, Prepared, Reserved, Resolved } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The granted credentials. A sandbox is made by the executor that needs one, under the call's own deadline. */
export function prepare({
  secrets,
}: Pick<PipelineParts, 'secrets'>): Stage<CallRequest & Resolved & Authorized & Reserved, Prepared> {
  return {
    name: 'prepare',
    takes: 'the granted credentials from the secret store',
    async run({ caller, request, principal, grant }, { controller }) {
      if (grant.credentials.length === 0) return { secrets: NO_SECRETS };
      // The one who asked, as `identify` has it: a credential may be his own (PRM-11).
      const asker = { token: caller.token ?? request.capability_token, signal: controller.signal };
      try {
        return { secrets: await secrets.read(principal.tenantId, grant.credentials, asker) };
      } catch (thrown) {
        return failureOf(thrown);
      }
    },
  };
}
