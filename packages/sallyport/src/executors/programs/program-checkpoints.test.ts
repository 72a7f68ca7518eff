import { chmodSync, rmSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SandboxExit } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { secretSearch } from '../../external/hide-secrets.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { keptCheckpoints } from '../conformance/kept-checkpoints.fixture.ts';
import type { Executor, ExecutorCall } from '../executor.port.ts';
import { openDrivers } from '../native/module-drivers.fixture.ts';
import { withModules } from '../native/module-executor.ts';
import { createNativeExecutor } from '../native/native-executor.ts';
import { openFolder, skillFolders, skillWith } from '../skill/skill.fixture.ts';
import { programCheckpoints } from './program-checkpoints.ts';
import { shellExecutor, skillExecutor } from './program-executors.fixture.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();
const never = new AbortController().signal;
const STATE_BYTES_MAX = 100_000;
const kept = () => keptCheckpoints({ stateBytesMax: STATE_BYTES_MAX });

const ran = async (executor: Executor, call: ExecutorCall): Promise<unknown> =>
  (await executor.executeConfirmed(call, never)).result;

const COUNT_SH = `#!/bin/sh
IFS= read -r step
step=\${step:-0}
while [ "$step" -lt 5 ]; do
  step=$((step + 1))
  echo "at $step" >&2
  echo "$SALLYPORT_CHECKPOINTS micro $step" >&2
  read -r answer rest
  [ "$answer" = saved ] || { echo "$answer $rest"; exit 1; }
  [ "$step" != "$1" ] || exit 3
done
echo "$step steps"
`;

const COUNT_JS = `
import { createInterface } from 'node:readline';
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextLine = async () => (await lines.next()).value;
const restored = await nextLine();
const state = restored === '' ? { done: [] } : JSON.parse(restored);
const continued = state.done.length;
while (state.done.length < 4) {
  state.done.push('gr\\u00fc\\u00dfe ' + state.done.length);
  const type = state.done.length === 2 ? 'macro half' : 'micro';
  process.stderr.write(process.env.SALLYPORT_CHECKPOINTS + ' ' + type + ' ' + JSON.stringify(state) + '\\n');
  const answer = await nextLine();
  if (!answer.startsWith('saved ckpt_')) throw new Error(answer);
  if (state.done.length === Number(process.argv[2])) process.exit(3);
}
console.log(JSON.stringify({ continued, state }));
process.stdin.destroy();
`;

test('STA-01.5 the answers that a program does not read are bounded: its checkpoints wait, and end with it', async () => {
  const { mark, over } = programCheckpoints(await kept().next());
  const { promise: exited, resolve: exit } = Promise.withResolvers<SandboxExit>();
  let given: () => void = () => {};
  // A pipe that nobody reads: what was given to it comes back when it is destroyed.
  const stdin = new Writable({
    write(_chunk, _encoding, done) {
      given = done;
    },
    destroy(cause, done) {
      given();
      done(cause);
    },
  });
  const stderr = Readable.from([Buffer.from(`${mark} rubbish\n`.repeat(12_000))], { objectMode: false });
  const stdout = Readable.from([]);
  const process = { stdin, stdout, stderr, exited, kill: () => {}, [Symbol.asyncDispose]: async () => {} };
  let hasEnded = false;
  const reading = over(process)
    .stderr.toArray()
    .finally(() => {
      hasEnded = true;
    });
  for (let turn = 0; turn < 500 && !hasEnded; turn += 1) await nextTurn();
  expect([hasEnded, stdin.writableLength > MiB, stdin.writableLength < MiB + KiB]).toEqual([false, true, true]);
  exit({ code: 0 } as SandboxExit);
  expect(await reading).toEqual([]);
});

describe.skipIf(!works)(`checkpoints of programs${works ? '' : `, skipped: ${problem}`}`, () => {
  const shell = shellExecutor(driver);
  const shellCall = (script: string, args: readonly string[], more: Partial<ExecutorCall>): ExecutorCall =>
    callOf(
      { executor: { kind: 'shell', config: { command: ['sh', '-c', script, 'sh', ...args], stdin: 'checkpoints' } } },
      {},
      more,
    );

  test('STA-01.5 a shell script saves, waits until it is stored, and a later run continues there', async () => {
    const { next, saved } = kept();
    const first = ran(shell, shellCall(COUNT_SH, ['3'], { checkpoints: await next() }));
    // What the script writes beside its checkpoints stays; the checkpoints are not shown.
    await expect(first).rejects.toMatchObject({
      code: 'E3108',
      failure: { details: { envelope: { stderr: 'at 1\nat 2\nat 3\n', exit_code: 3 } } },
    });
    expect(await saved()).toEqual([1, 2, 3].map((step) => ['micro', undefined, String(step)]));
    const second = await ran(shell, shellCall(COUNT_SH, ['-'], { checkpoints: await next() }));
    expect(second).toMatchObject({ stdout: '5 steps\n', stderr: 'at 4\nat 5\n' });
    expect((await saved()).map(([, , state]) => state)).toEqual(['1', '2', '3', '4', '5']);
  });

  test('STA-01.5 what is no checkpoint is refused with what to write, and the program goes on', async () => {
    const { next, saved } = kept();
    const script = `
      read -r nothing
      save() { printf '%s\\n' "$SALLYPORT_CHECKPOINTS $1" >&2; read -r answer; echo "$answer"; }
      save 'later 1'; save 'micro'; save 'macro 1'; save "micro $(head -c ${STATE_BYTES_MAX + 600} /dev/zero | tr '\\0' x)"
      save 'named mine {"a b":1}'; save 'micro '
      printf '%s micro cut' "$SALLYPORT_CHECKPOINTS" >&2`;
    const { stdout } = (await ran(shell, shellCall(script, [], { checkpoints: await next() }))) as { stdout: string };
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/ckpt_.*/, 'ID').slice(0, 14));
    const no = 'refused E3109 ';
    expect(answers).toEqual([no, no, no, 'refused E3102 ', 'saved ID', 'saved ID']);
    expect(await saved()).toEqual([
      ['named', 'mine', '{"a b":1}'],
      ['micro', undefined, ''],
    ]);
  });

  test('STA-01.5 a text that the program passes on cannot be taken for a checkpoint: each run has another mark', async () => {
    const { next, saved } = kept();
    const script = 'read -r nothing; echo "$SALLYPORT_CHECKPOINTS"; echo "$1 micro forged" >&2';
    const marks = new Set<string>();
    let mark = 'checkpoint-0';
    for (let run = 0; run < 2; run += 1) {
      const { stdout } = (await ran(shell, shellCall(script, [mark], { checkpoints: await next() }))) as {
        stdout: string;
      };
      mark = stdout.trim();
      marks.add(mark);
    }
    expect([marks.size, await saved()]).toEqual([2, []]);
    expect(mark).toMatch(/^checkpoint-[0-9a-f]{24}$/);
  });

  test('SBX-05.4 a program whose state holds its secret is refused, and so is one that another run has replaced', async () => {
    const { next, saved } = kept();
    const secrets = new Map([['API_KEY', 'correct-horse-battery']]);
    const holdsSecret = secretSearch(secrets);
    const checkpoints = await next(holdsSecret === undefined ? {} : { holdsSecret });
    const script = 'read -r n; echo "$SALLYPORT_CHECKPOINTS micro $API_KEY" >&2; read -r answer; echo "$answer"';
    const first = await ran(shell, shellCall(script, [], { checkpoints, secrets }));
    expect(first).toMatchObject({ stdout: expect.stringContaining('refused E3109') });
    const [one, other] = [await next(), await next()];
    await one.save(1);
    const second = await ran(
      shell,
      shellCall('read -r n; echo "$SALLYPORT_CHECKPOINTS micro 2" >&2; read -r answer; echo "$answer"', [], {
        checkpoints: other,
      }),
    );
    expect(second).toMatchObject({ stdout: expect.stringContaining('refused E3704') });
    expect((await saved()).map(([, , state]) => state)).toEqual(['1']);
  });

  test('STA-01.5 a program that never reads its input ends as it would, and where no states are kept, each checkpoint is refused', async () => {
    expect(await ran(shell, shellCall('echo done', [], { checkpoints: await kept().next() }))).toMatchObject({
      stdout: 'done\n',
    });
    const script = 'read -r n; echo "$SALLYPORT_CHECKPOINTS micro 1" >&2; read -r answer; echo "$answer"';
    expect(await ran(shell, shellCall(script, [], {}))).toMatchObject({
      stdout: expect.stringContaining('refused E3109'),
    });
  });

  test('STA-01.5 a tool that saves checkpoints has no transaction, and is no shell that would run its state', () => {
    const faults = (config: Record<string, unknown>) => {
      const { manifest } = callOf({ executor: { kind: 'shell', config: { stdin: 'checkpoints', ...config } } }).tool;
      return shellExecutor(driver)
        .configFaults(manifest)
        .map(({ path }) => path);
    };
    const command = ['sh', '-c', 'read -r n'];
    expect(faults({ command })).toEqual([]);
    expect(faults({ command, transaction: { auto_rollback: false } })).toEqual([]);
    expect(faults({ command, transaction: {} })).toEqual(['/executor/config/transaction']);
    expect(faults({ command: ['sh'] })).toEqual(['/executor/config/stdin']);
  });

  describe('of a skill', () => {
    const root = openFolder();
    chmodSync(root, 0o755);
    afterAll(() => rmSync(root, { recursive: true }));
    const files = skillFolders(root);
    const skill = skillWith({
      'scripts/count.sh': COUNT_SH,
      'scripts/count.mjs': COUNT_JS,
      'scripts/cat.sh': '#!/bin/sh\ncat\n',
    });
    const executor = skillExecutor(driver, files);
    const call = (parameters: Record<string, unknown>, more: Partial<ExecutorCall>): ExecutorCall =>
      callOf(skill.manifest, parameters, more);

    test.each([
      ['count.sh', '3', '5 steps\n', 5],
      [
        'count.mjs',
        '2',
        `${JSON.stringify({ continued: 2, state: { done: [0, 1, 2, 3].map((at) => `grüße ${at}`) } })}\n`,
        4,
      ],
    ])('STA-01.5 a script that names the variable continues: %s', async (name, stopAt, stdout, count) => {
      await files.keep('acme', skill.config, skill.contents);
      const { next, saved } = kept();
      const script = `scripts/${name}`;
      const first = ran(executor, call({ script, arguments: [stopAt] }, { checkpoints: await next() }));
      await expect(first).rejects.toMatchObject({ code: 'E3108' });
      const second = await ran(executor, call({ script, arguments: ['-'] }, { checkpoints: await next() }));
      expect(second).toMatchObject({ stdout });
      expect(await saved()).toHaveLength(count);
      if (name === 'count.mjs') expect((await saved())[1]).toEqual(['macro', 'half', '{"done":["grüße 0","grüße 1"]}']);
    });

    test('STA-01.5 a call gives such a script no input, and every other script its own', async () => {
      await files.keep('acme', skill.config, skill.contents);
      const withInput = (script: string) => ran(executor, call({ script, stdin: 'given' }, {}));
      await expect(withInput('scripts/count.sh')).rejects.toMatchObject({ code: 'E3801' });
      expect(await withInput('scripts/cat.sh')).toMatchObject({ stdout: 'given' });
    });
  });

  describe.each(['interpreter', 'namespaces'] as const)('of a module, %s', (isolation) => {
    const drivers = openDrivers();
    afterAll(() => drivers.close());
    const executor = withModules(createNativeExecutor(), drivers.parts);
    const call = (module: string, parameters: Record<string, unknown>, more: Partial<ExecutorCall>): ExecutorCall => {
      const manifest: Partial<ToolManifest> & Pick<ToolManifest, 'executor'> = {
        executor: { kind: 'native', config: { module } },
        execution_config: { isolation },
      };
      return callOf(manifest, parameters, more);
    };
    const COUNT = `export default async ({ stop }, { checkpoints: { restored, save } }) => {
      const { done } = restored?.state ?? { done: [] };
      const from = done.length;
      while (done.length < 4) {
        done.push('grüße ' + done.length);
        await save({ done }, done.length === 2 ? { name: 'half' } : {});
        if (done.length === stop) throw new Error('stopped');
      }
      return { from, by: restored?.toolVersion, done };
    }`;

    test('STA-01.5 a function in a sandbox continues from what it saved', async () => {
      const { next, saved } = kept();
      await expect(ran(executor, call(COUNT, { stop: 3 }, { checkpoints: await next() }))).rejects.toMatchObject({
        code: 'E3108',
        message: expect.stringContaining('stopped'),
      });
      const result = await ran(executor, call(COUNT, {}, { checkpoints: await next() }));
      expect(result).toEqual({ from: 3, by: '1.0.0', done: [0, 1, 2, 3].map((at) => `grüße ${at}`) });
      expect((await saved()).map(([type, label]) => [type, label])).toEqual([
        ['micro', undefined],
        ['named', 'half'],
        ['micro', undefined],
        ['micro', undefined],
      ]);
    });

    test('STA-01.5 a refused checkpoint is an error with its code, which a function can catch', async () => {
      const module = `export default async ({ size }, { checkpoints }) => {
        const codes = [];
        for (const state of ['x'.repeat(size), undefined, 1]) {
          try {
            codes.push((await checkpoints.save(state)).checkpointId.slice(0, 5));
          } catch (error) {
            codes.push(error.code ?? error.message);
          }
        }
        return codes;
      }`;
      const result = await ran(executor, call(module, { size: STATE_BYTES_MAX }, { checkpoints: await kept().next() }));
      expect(result).toEqual(['E3102', 'the state is no JSON value', 'ckpt_']);
    });
  });

  test('STA-02.3 a state of several lines cannot be given to a program: nothing runs', async () => {
    const { next } = kept();
    await (await next()).save(Buffer.from('two\nlines'));
    const thrown = await ran(shell, shellCall('echo', [], { checkpoints: await next() })).catch(
      (error: ToolLayerError) => error,
    );
    expect(thrown).toMatchObject({ code: 'E3703' });
  });
});
