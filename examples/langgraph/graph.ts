import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { SallyportSaver } from '../../packages/sallyport/src/doors/toolbox/langgraph/sallyport-saver.ts';

const State = Annotation.Root({
  notes: Annotation<readonly string[]>({ reducer: (before, after) => [...before, ...after], default: () => [] }),
});

/** The thread of the story. */
export const THREAD = { configurable: { thread_id: 'report' } };

/** A graph that reads, thinks and writes; `onStep` is called as each step begins. */
export function reportGraph(checkpointer: SallyportSaver, onStep: (step: string) => Promise<void> | void) {
  const step = (name: string) => async () => {
    await onStep(name);
    return { notes: [name] };
  };
  return new StateGraph(State)
    .addNode('read', step('read'))
    .addNode('think', step('think'))
    .addNode('write', step('write'))
    .addEdge(START, 'read')
    .addEdge('read', 'think')
    .addEdge('think', 'write')
    .addEdge('write', END)
    .compile({ checkpointer });
}
