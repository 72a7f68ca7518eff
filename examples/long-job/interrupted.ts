// A process of its own, which is killed in the middle of the job: node interrupted.ts <data folder> <folder of notes>
import { setTimeout as wait } from 'node:timers/promises';
import { CALL, CLERK, knownOfJob, openLayer, RULES, storeRules } from './job.ts';

const [, , dataFolder = '', folder = ''] = process.argv;
let filed = 0;
const layer = await openLayer(dataFolder, async (_name, _isNew, open) => {
  filed += 1;
  if (filed < 4) return;
  // The worst moment: the fourth note is filed, and the job has not saved that it is.
  const done = async (): Promise<unknown> => JSON.stringify(await knownOfJob(open));
  while (!String(await done()).includes('3.md')) await wait(20);
  console.log('filed');
  await wait(600_000);
});
await storeRules(layer, 'Every note is filed as it is.');
const { capability_token } = await layer.mintToken(CLERK);
await layer.invoke({
  ...{ tool_id: 'file-notes', invocation_id: CALL, parameters: { folder }, capability_token },
  document_context: { document_refs: [RULES] },
});
