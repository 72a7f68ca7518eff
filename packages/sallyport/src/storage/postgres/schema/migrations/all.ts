import type { Migration } from 'kysely';
import { firstTables } from './0001-first-tables.ts';
import { toolLifecycle } from './0002-tool-lifecycle.ts';
import { vectors } from './0003-vectors.ts';
import { upstreamTools } from './0004-upstream-tools.ts';
import { visibility } from './0005-visibility.ts';
import { identity } from './0006-identity.ts';
import { quotas } from './0007-quotas.ts';
import { unrecordedVersions } from './0008-unrecorded-versions.ts';
import { approvals } from './0009-approvals.ts';
import { callLeases } from './0010-call-leases.ts';
import { undoSteps } from './0011-undo-steps.ts';
import { sideEffects } from './0012-side-effects.ts';
import { keptResults } from './0013-kept-results.ts';
import { toolState } from './0014-tool-state.ts';
import { skillContents } from './0015-skill-contents.ts';
import { seenOutputs } from './0016-seen-outputs.ts';
import { cheaperRows } from './0017-cheaper-rows.ts';
import { callNonces } from './0018-call-nonces.ts';
import { callList } from './0019-call-list.ts';

/** Every migration by name, in order. A migration that was released is never changed; a new one follows it. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first-tables': firstTables,
  '0002-tool-lifecycle': toolLifecycle,
  '0003-vectors': vectors,
  '0004-upstream-tools': upstreamTools,
  '0005-visibility': visibility,
  '0006-identity': identity,
  '0007-quotas': quotas,
  '0008-unrecorded-versions': unrecordedVersions,
  '0009-approvals': approvals,
  '0010-call-leases': callLeases,
  '0011-undo-steps': undoSteps,
  '0012-side-effects': sideEffects,
  '0013-kept-results': keptResults,
  '0014-tool-state': toolState,
  '0015-skill-contents': skillContents,
  '0016-seen-outputs': seenOutputs,
  '0017-cheaper-rows': cheaperRows,
  '0018-call-nonces': callNonces,
  '0019-call-list': callList,
};
