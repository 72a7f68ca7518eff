import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { ERRORS } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Executor, ExecutorCall } from '../executor.port.ts';

/** An executor with sample calls. Each call is made anew, since a suite may run it more than once. */
export interface ExecutorUnderTest {
  readonly executor: Executor;
  /** A call that needs no confirmation and succeeds, and its result. */
  works(): { readonly call: ExecutorCall; readonly result: unknown };
  /** A call that fails. */
  fails(): ExecutorCall;
  /** A call that needs a person's confirmation, and its result; absent for an executor that never asks. */
  asks?(): { readonly call: ExecutorCall; readonly result: unknown };
  /** A call that does not end by itself within the time of a test. `running` resolves when the tool has started; it is called after the call began, if at all. */
  hangs(): { readonly call: ExecutorCall; readonly running: () => Promise<void> };
  /** A manifest of the executor's kind whose `executor.config` has a fault. */
  faulty(): ExecutorCall['tool']['manifest'];
  /** Number of the tool's processes, connections and requests still running. Polled after an abort; must soon be 0. */
  leftovers(): number | Promise<number>;
  close(): Promise<void>;
}

/** Conformance of every Executor (EXE-01). `open` returns a fresh one each time. */
export function executorConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<ExecutorUnderTest>,
): void {
  const check = (name: string, run: (subject: ExecutorUnderTest) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.close();
      }
    });
  callCases(check);
  abortCases(check);
  tableCases(check);
}

type Check = (name: string, run: (subject: ExecutorUnderTest) => Promise<void>) => void;

const never = new AbortController().signal;

function callCases(check: Check): void {
  check('EXE-01 a call gives its result and what it used', async ({ executor, works }) => {
    const { call, result } = works();
    const outcome = await executor.execute(call, never);
    deepEqual(outcome.result, result);
    equal(outcome.toolError, undefined);
    for (const figure of Object.values(outcome.usage)) ok(Number.isFinite(figure) && figure >= 0);
  });

  check('EXE-01.1 a confirmed call runs too, on its own path', async ({ executor, works }) => {
    const { call, result } = works();
    deepEqual((await executor.executeConfirmed(call, never)).result, result);
  });

  check('EXE-01.2 what a person has to be asked about runs on the confirmed path alone', async ({ executor, asks }) => {
    if (asks === undefined) return;
    const { call, result } = asks();
    ok(String(await executor.requiresConfirmation(call)).endsWith('.'), 'the question is a sentence');
    await rejects(executor.execute(call, never), { code: 'E3210' });
    deepEqual((await executor.executeConfirmed(call, never)).result, result);
  });

  check('EXE-01 a call that goes wrong says so the same way on both paths', async ({ executor, fails }) => {
    const first = await end(executor, 'execute', fails());
    const second = await end(executor, 'executeConfirmed', fails());
    ok(first !== 'well', 'the call must not end well');
    equal(second, first);
  });
}

/** The end of a call: success, the tool's own error, or an error code. */
async function end(executor: Executor, path: 'execute' | 'executeConfirmed', call: ExecutorCall): Promise<string> {
  try {
    const { toolError } = await executor[path](call, never);
    return toolError === true ? 'tool error' : 'well';
  } catch (thrown) {
    ok(thrown instanceof ToolLayerError, `only a ToolLayerError may leave, not ${String(thrown)}`);
    ok(Object.hasOwn(ERRORS, thrown.code));
    return thrown.code;
  }
}

function abortCases(check: Check): void {
  const reason = new ToolLayerError('E3103', 'The time is up.');

  check('EXE-01 a running call ends with the reason of the abort, and nothing stays behind', async (subject) => {
    const { call, running } = subject.hangs();
    const controller = new AbortController();
    const ended = subject.executor.execute(call, controller.signal);
    const refused = rejects(ended, (thrown) => thrown === reason);
    await running();
    controller.abort(reason);
    await refused;
    await gone(subject);
  });

  check('EXE-01 a call that was aborted before does not begin', async (subject) => {
    const { call } = subject.hangs();
    await rejects(subject.executor.execute(call, AbortSignal.abort(reason)), (thrown) => thrown === reason);
    await rejects(subject.executor.executeConfirmed(call, AbortSignal.abort(reason)), (thrown) => thrown === reason);
    await gone(subject);
  });
}

const POLL_MS = 10;
const POLLS_MAX = 5_000;

async function gone({ leftovers }: ExecutorUnderTest): Promise<void> {
  for (let polls = 0; (await leftovers()) > 0; polls += 1) {
    ok(polls < POLLS_MAX, 'something of the tool is still there');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function tableCases(check: Check): void {
  check('EXE-01.1 an executor owns tools of its kind only', async ({ executor, works }) => {
    const { tool } = works().call;
    equal(executor.owns(tool), true);
    equal(tool.manifest.executor.kind, executor.kind);
    const kind = executor.kind === 'native' ? 'composio' : 'native';
    equal(executor.owns({ ...tool, manifest: { ...tool.manifest, executor: { kind } } }), false);
  });

  check(
    'EXE-01.1 requiresConfirmation and isRetryable answer without running the tool',
    async ({ executor, works }) => {
      const { call } = works();
      equal(await executor.requiresConfirmation(call), undefined);
      equal(typeof executor.isRetryable(call.tool), 'boolean');
      const { idempotent: _, side_effect_policy: __, ...silent } = call.tool.manifest;
      equal(executor.isRetryable({ ...call.tool, manifest: { ...silent, side_effect_policy: 'irreversible' } }), false);
    },
  );

  check('EXE-01 a good configuration has no faults, a bad one has each with its place', async (subject) => {
    deepEqual(subject.executor.configFaults(subject.works().call.tool.manifest), []);
    const faults = subject.executor.configFaults(subject.faulty());
    ok(faults.length > 0, 'the faulty manifest must have a fault');
    for (const { path, code } of faults) {
      ok(path.startsWith('/executor'), `${path} must point into the executor's part`);
      equal(code, 'E3008');
    }
  });
}
