import type { Admitted, Executed, Inspected, Noted, Ran, Resolved, Settled, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import { checkDeterminism } from './determinism/check-determinism.ts';

type Needs = Noted & Admitted & Resolved & Validated & Ran & Executed & Inspected;

/**
 * Makes the changes of the call final; from here on nothing is taken back. A tool that claims to be deterministic is
 * checked (PIPE-10). The record itself is written by `audited`.
 */
export function settle(parts: Pick<PipelineParts, 'outputs' | 'records' | 'clock'>): Stage<Needs, Settled> {
  return {
    name: 'settle',
    async run(call, ongoing) {
      ongoing.undo.commit();
      const noted = call.tool.manifest.deterministic === true ? await checkDeterminism(parts, call) : undefined;
      return { settled: true, ...noted };
    },
  };
}
