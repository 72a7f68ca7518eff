// A process of its own, which is killed in the second step of its graph: node killed.ts <data folder>
import { setTimeout as wait } from 'node:timers/promises';
import { SallyportSaver } from '../../packages/sallyport/src/doors/toolbox/langgraph/sallyport-saver.ts';
import { createToolLayer } from '../../packages/sallyport/src/index.ts';
import { reportGraph, THREAD } from './graph.ts';

const [, , folder = ''] = process.argv;
const layer = await createToolLayer({ settings: { data_folder: folder, 'log.level': 'silent' } });
const { capability_token: token } = await layer.mintToken({ agent_did: 'did:example:writer' });
const graph = reportGraph(new SallyportSaver({ layer, token }), async (step) => {
  console.log(step);
  if (step === 'think') await wait(600_000);
});
// LangGraph saves beside the next step by default; here it waits until the state is durable.
await graph.invoke({ notes: [] }, { ...THREAD, durability: 'sync' });
