import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { JournalEntry, OpenTransaction, UndoJournal } from '../../../src/pipeline/undo-journal.port.ts';

/** The largest number of steps; one more is refused with E3812. */
const STEPS_MAX = 100_000;

interface HeldStep {
  /** The step as JSON text, so that callers never share objects with the journal. */
  readonly text: string;
  undone: boolean;
}

interface HeldCall extends Pick<JournalEntry, 'tenantId' | 'invocationId' | 'instanceId'> {
  readonly steps: Map<number, HeldStep>;
}

/** The undo journal in memory: it survives a failed call, but not the end of the process. */
export function memoryUndoJournal(): UndoJournal {
  const calls = new Map<string, HeldCall>();
  let held = 0;
  return {
    async add({ tenantId, invocationId, instanceId, position, step }) {
      const key = keyOf(tenantId, invocationId);
      const call = calls.get(key) ?? { tenantId, invocationId, instanceId, steps: new Map<number, HeldStep>() };
      if (call.steps.has(position))
        throw new ToolLayerError('E3812', 'The step of the transaction is written already.');
      if (held >= STEPS_MAX) throw new ToolLayerError('E3812', `The journal in memory holds its ${STEPS_MAX} steps.`);
      call.steps.set(position, { text: JSON.stringify(step), undone: false });
      calls.set(key, call);
      held += 1;
    },
    async markUndone(tenantId, invocationId, position) {
      const step = calls.get(keyOf(tenantId, invocationId))?.steps.get(position);
      if (step !== undefined) step.undone = true;
    },
    async close(tenantId, invocationId) {
      const key = keyOf(tenantId, invocationId);
      held -= calls.get(key)?.steps.size ?? 0;
      calls.delete(key);
    },
    async find(tenantId, invocationId) {
      const call = calls.get(keyOf(tenantId, invocationId));
      return call === undefined ? undefined : shown(call);
    },
    async open(instanceId, limit, after) {
      const found = [...calls.values()].filter(
        (call) => call.instanceId === instanceId && (after === undefined || byPlace(call, after) > 0),
      );
      return found.sort(byPlace).slice(0, limit).map(shown);
    },
  };
}

type Place = Pick<HeldCall, 'tenantId' | 'invocationId'>;

function byPlace(one: Place, other: Place): number {
  if (one.tenantId !== other.tenantId) return one.tenantId < other.tenantId ? -1 : 1;
  if (one.invocationId === other.invocationId) return 0;
  return one.invocationId < other.invocationId ? -1 : 1;
}

function shown({ tenantId, invocationId, instanceId, steps }: HeldCall): OpenTransaction {
  const inOrder = [...steps].sort(([one], [other]) => one - other);
  return {
    tenantId,
    invocationId,
    instanceId,
    steps: inOrder.map(([position, { text, undone }]) => ({ position, step: JSON.parse(text), undone })),
  };
}

/** The tenant's length is part of the key, so that different pairs never have the same key. */
const keyOf = (tenantId: string, invocationId: string): string => `${tenantId.length} ${tenantId}${invocationId}`;
