import type { CallFact, Noted, Prepared, Reserved } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { refusedBy, type Stage } from '../../stage.ts';
import { callDocuments, type DocumentedCall } from './call-documents.ts';

type Needs = DocumentedCall & Noted & Reserved;

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/**
 * Fetches the granted credentials, then the documents of the call. The executor makes its own sandbox, if it needs one,
 * under the call's deadline.
 */
export function prepare(
  parts: Pick<PipelineParts, 'secrets' | 'documents' | 'checkpoints' | 'policy' | 'clock'>,
): Stage<Needs, Prepared> {
  return {
    name: 'prepare',
    takes: 'the granted credentials from the secret store, and the documents of the call',
    async run(call, ongoing) {
      let { facts } = call;
      const note = (fact: CallFact): void => {
        facts = [...facts, fact];
      };
      try {
        const secrets = await secretsOf(parts, call, ongoing.controller.signal);
        const read = await callDocuments(parts, call, ongoing, secrets, note);
        if (read === undefined) return { secrets };
        return { secrets, documents: read.documents, warnings: [...call.warnings, ...read.warnings] };
      } catch (thrown) {
        return refusedBy(thrown, { facts });
      }
    },
  };
}

async function secretsOf(
  { secrets }: Pick<PipelineParts, 'secrets'>,
  { caller, request, principal, grant }: Needs,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (grant.credentials.length === 0) return NO_SECRETS;
  // The user that `identify` established: a credential may be that user's own (PRM-11).
  const asker = { token: caller.token ?? request.capability_token, signal };
  return secrets.read(principal.tenantId, grant.credentials, asker);
}
