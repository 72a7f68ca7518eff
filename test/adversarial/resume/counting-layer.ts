// A program that the test starts and kills: a layer with a tool that counts in steps, and saves a checkpoint after each.
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MiB } from '@sallyport/std/bytes';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';

/** What the test asks of one process. */
export interface CountingOrder {
  readonly settings: Parameters<typeof createToolLayer>[0] extends { settings?: infer Given } ? Given : never;
  /** What the tool is: a function of this program, a shell script, or a tool of an MCP server. */
  readonly kind: 'function' | 'shell' | 'mcp';
  readonly steps: number;
  /** True for states of more than 1 MiB, which are objects; of functions only. */
  readonly large?: true;
  /** Id of the call that continues the work. */
  readonly invocationId: string;
  /** Call whose newest checkpoint is resumed; absent for the first. */
  readonly after?: string;
}

const SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/counting-server.mjs', import.meta.url),
);
/** The state is the list of the steps that are done, as in the function. */
const SCRIPT = `
IFS= read -r state
done=\${state#[}
done=\${done%]}
next=$(echo "$done" | tr ',' ' ' | wc -w)
while [ "$next" -lt "$1" ]; do
  done=$done\${done:+,}$next
  next=$((next + 1))
  echo "$SALLYPORT_CHECKPOINTS micro [$done]" >&2
  read -r answer why
  [ "$answer" = saved ] || { echo "$answer $why" >&2; exit 1; }
done
echo "[$done]"`;

const { settings, kind, steps, large, invocationId, after } = JSON.parse(process.argv[2] ?? '') as CountingOrder;
const MANIFEST = {
  tool_id: `count-${kind}`,
  tool_name: 'count',
  version: '1.0.0',
  description: 'Counts.',
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object' },
} as const;

/** Writes a line for the test. */
const say = (word: string, value: unknown = null): void => void writeSync(1, `${word} ${JSON.stringify(value)}\n`);

const layer = await createToolLayer({ settings, environment: {}, log: silentLog });

/** What makes a state an object. */
const bulk = (): string => randomBytes(2 * MiB).toString('base64');
/** The steps that are done according to a state. */
const doneOf = (state: unknown): number[] => (Array.isArray(state) ? state : (state as { done: number[] }).done);
const newestOf = async (call: string) => {
  const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: call, limit: 1 }, LOCAL_CALLER);
  return checkpoints[0];
};
const doneIn = async (checkpoint_id: string): Promise<number> => {
  const { state } = await layer.ask('checkpoints.get', { checkpoint_id }, LOCAL_CALLER);
  return doneOf(state).length;
};

const adding: Readonly<Record<CountingOrder['kind'], (to: EmbeddedToolLayer) => Promise<unknown>>> = {
  function: (to) =>
    to.registerFunction({ ...MANIFEST, executor: { kind: 'native' } }, async (_parameters, { checkpoints }) => {
      const { restored } = checkpoints;
      const done = restored === undefined ? [] : doneOf(JSON.parse(Buffer.from(restored.bytes).toString()));
      while (done.length < steps) {
        done.push(done.length);
        if (large !== true) await checkpoints.save(done);
        else await checkpoints.save({ done, bulk: bulk() }, { milestone: `step ${done.length}` });
      }
      return done;
    }),
  shell(to) {
    const config = { command: ['sh', '-c', SCRIPT, 'sh', String(steps)], stdin: 'checkpoints', output: 'json' };
    return to.ask('tools.register', { manifest: { ...MANIFEST, executor: { kind: 'shell', config } } }, LOCAL_CALLER);
  },
  mcp(to) {
    const transport = { type: 'stdio' as const, command: 'node', args: [SERVER] };
    const overrides = { '*': { side_effect_policy: 'pure' as const } };
    const upstream = { name: 'counting', transport, may_save_checkpoints: true, overrides };
    return to.ask('upstreams.add', { upstream }, LOCAL_CALLER);
  },
};

/** Reports each newest checkpoint that it sees. */
async function report(isOver: () => boolean): Promise<void> {
  for (let last = ''; !isOver(); await sleep(5)) {
    const newest = await newestOf(invocationId);
    // Those of the call before, which it continues, are listed too.
    if (newest === undefined || newest.invocation_id !== invocationId || newest.checkpoint_id === last) continue;
    last = newest.checkpoint_id;
    // Those of a call that has ended well are gone.
    const done = await doneIn(last).catch(() => undefined);
    if (done !== undefined) say('done', done);
  }
}

await adding[kind](layer);
const newest = after === undefined ? undefined : await newestOf(after);
say('continues', newest === undefined ? 0 : await doneIn(newest.checkpoint_id));
const { capability_token: token } = await layer.mintToken({});
let isOver = false;
const reporting = report(() => isOver);
const answer = await layer.invoke(
  {
    tool_id: kind === 'mcp' ? 'counting__count' : MANIFEST.tool_id,
    parameters: kind === 'mcp' ? { steps, pause_ms: 2 } : {},
    invocation_id: invocationId,
    ...(newest === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id: newest.checkpoint_id } }),
  },
  { token },
);
isOver = true;
await reporting;
say('answer', answer);
await text(process.stdin);
await layer.close();
