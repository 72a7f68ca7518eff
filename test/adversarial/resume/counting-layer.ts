// A program that the test starts and kills: a layer with a tool that counts in steps, and saves a checkpoint after each.
import { writeSync } from 'node:fs';
import { createToolLayer, LOCAL_CALLER, silentLog } from '../../../packages/sallyport/src/index.ts';

/** What the test asks of one process. */
export interface CountingOrder {
  readonly settings: Parameters<typeof createToolLayer>[0] extends { settings?: infer Given } ? Given : never;
  readonly steps: number;
  /** Id of the call that continues the work. */
  readonly invocationId: string;
  /** Call whose newest checkpoint is resumed; absent for the first. */
  readonly after?: string;
}

/** Writes a line for the test. */
const say = (word: string, value: unknown = null): void => void writeSync(1, `${word} ${JSON.stringify(value)}\n`);

const { settings, steps, invocationId, after } = JSON.parse(process.argv[2] ?? '') as CountingOrder;
const layer = await createToolLayer({ settings, environment: {}, log: silentLog });
await layer.registerFunction(
  {
    tool_id: 'count',
    tool_name: 'count',
    version: '1.0.0',
    description: 'Counts.',
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
  },
  async (_parameters, { checkpoints }) => {
    const { restored } = checkpoints;
    const done = restored === undefined ? [] : (JSON.parse(Buffer.from(restored.bytes).toString()) as number[]);
    say('continues', done.length);
    while (done.length < steps) {
      done.push(done.length);
      await checkpoints.save(done);
      say('step', done.length);
    }
    return done;
  },
);
const found =
  after === undefined
    ? { checkpoints: [] }
    : await layer.ask('checkpoints.list', { invocation_id: after, limit: 1 }, LOCAL_CALLER);
const [newest] = found.checkpoints;

const { capability_token: token } = await layer.mintToken({});
const answer = await layer.invoke(
  {
    tool_id: 'count',
    invocation_id: invocationId,
    ...(newest === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id: newest.checkpoint_id } }),
  },
  { token },
);
say('answer', answer);
await layer.close();
