import type { CallRequest, Noted } from './call.ts';
import { inOrder } from './ongoing/in-order.ts';
import type { PipelineParts } from './parts.ts';
import type { Stage } from './stage.ts';
import { admit } from './stages/admit.ts';
import { approve } from './stages/approve.ts';
import { authorize } from './stages/authorize.ts';
import { execute } from './stages/execute.ts';
import { forTokenHolders } from './stages/grant/token-refusal.ts';
import { consult } from './stages/hooked/consult.ts';
import { review } from './stages/hooked/review.ts';
import { inspect } from './stages/inspect.ts';
import { reuse } from './stages/keyed/reuse.ts';
import { prepare } from './stages/prepared/prepare.ts';
import { reserve } from './stages/reserve.ts';
import { resolve } from './stages/resolve.ts';
import { settle } from './stages/settle.ts';
import { validate } from './stages/validate.ts';
import { audited } from './wrappers/audited.ts';
import { bounded } from './wrappers/bounded.ts';
import { traced } from './wrappers/traced.ts';
import { undoable } from './wrappers/undoable.ts';
import type { Wrapper } from './wrappers/wrapper.ts';

/** THE list: every call of every door passes these stages in this order, and nothing else runs a tool (PIPE-02). */
export function stagesInOrder(parts: PipelineParts): readonly Stage<never, object>[] {
  const validated = forTokenHolders(validate(parts));
  const authorized = authorize(parts);
  return inOrder<CallRequest & Noted>()(
    admit(parts),
    resolve(parts),
    validated,
    authorized,
    reuse(parts),
    consult(parts, { validate: validated, authorize: authorized }),
    approve(parts),
    reserve(parts),
    prepare(parts),
    execute(parts),
    review(parts),
    inspect(parts),
    settle(parts),
  );
}

/** Outermost first. `audited` wraps all stages, so a refusal is recorded as surely as a success. */
export function wrappersInOrder(parts: PipelineParts): readonly Wrapper[] {
  return [traced(parts), audited(parts), bounded(parts), undoable(parts)];
}
