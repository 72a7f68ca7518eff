import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import { type JobEnd, PAGE_BYTES, SHARED, type WasmJob } from '../protocol.ts';
import { WASM_BOUNDS } from '../settings.ts';
import { createInput } from './input.ts';
import { type Interpreter, takenBytes } from './interpreter.ts';
import { createOutput, type Output } from './output.ts';
import type { ProcessorTime } from './processor-time.ts';

/** Why a script must stop; undefined while it may run. */
interface Stop {
  why?: 'exit' | 'cpu';
  code: number;
}

type Ending = Omit<JobEnd, 'cpuMs' | 'takenBytes'>;

interface Run {
  readonly job: WasmJob;
  readonly interpreter: Interpreter;
  readonly time: ProcessorTime;
  readonly output: Output;
  readonly stop: Stop;
}

/** Exit code of a script whose last promise is never settled, as of Node. */
const NEVER_SETTLED = 13;

/**
 * Runs one script to its end.
 * @param interpreter in which nothing else was or will be run
 */
export function runJob(job: WasmJob, interpreter: Interpreter, time: ProcessorTime): JobEnd {
  const output = createOutput(job);
  const end = (how: Ending): JobEnd => {
    notePages(job, interpreter);
    output.finish();
    return { ...how, cpuMs: time.usedMs(), takenBytes: takenBytes(interpreter) };
  };
  try {
    return end(runScript({ job, interpreter, time, output, stop: { code: 0 } }));
  } catch (thrown) {
    output.write(2, `The interpreter failed: ${thrown instanceof Error ? thrown.message : 'unknown'}\n`);
    // Its memory limit is the usual cause: then it cannot even report that.
    if (interpreter.memoryRefused()) return end({ signal: 'SIGKILL', violation: 'memory', broken: true });
    return end({ signal: 'SIGABRT', broken: true });
  }
}

function runScript(run: Run): Ending {
  const { interpreter, job, stop } = run;
  const { runtime, context } = interpreter;
  runtime.setInterruptHandler(() => mustStop(run));
  const report = makeWorld(run);
  const failed = runToEnd(run, context.evalCode(job.source, 'script.js', { type: 'module' }));
  if (stop.why === 'cpu') return { signal: 'SIGKILL', violation: 'cpu', broken: true };
  if (stop.why === 'exit') return { code: stop.code, broken: false };
  if (failed === undefined) return { code: 0, broken: false };
  if (failed === 'pending') {
    run.output.write(2, 'Uncaught: the script waits for a promise that nothing will settle.\n');
    // A step of a promise chain that found no memory is lost silently.
    const memory = interpreter.memoryRefused();
    return { code: NEVER_SETTLED, ...(memory ? { violation: 'memory' } : {}), broken: false };
  }
  const memory = reportError(run, report, failed);
  // What wrote the report may have met a limit too.
  if ((stop.why as Stop['why']) === 'cpu') return { signal: 'SIGKILL', violation: 'cpu', broken: true };
  return { code: 1, ...(memory ? { violation: 'memory' } : {}), broken: false };
}

/** The thrown value, or that the script waits for something that never happens; undefined for success. */
function runToEnd(
  { interpreter: { runtime, context }, stop }: Run,
  result: ReturnType<QuickJSContext['evalCode']>,
): QuickJSHandle | 'pending' | undefined {
  if (result.error !== undefined) return result.error;
  for (;;) {
    const jobs = runtime.executePendingJobs(WASM_BOUNDS.jobsAtOnce);
    if (stop.why !== undefined) return undefined;
    if (jobs.error !== undefined) return jobs.error;
    if (jobs.value < WASM_BOUNDS.jobsAtOnce && !runtime.hasPendingJob()) break;
  }
  const state = context.getPromiseState(result.value);
  if (state.type === 'rejected') return state.error;
  return state.type === 'pending' ? 'pending' : undefined;
}

/** Called by the interpreter every few thousand steps. */
function mustStop({ stop, time, output, job, interpreter }: Run): boolean {
  if (stop.why !== undefined) return true;
  output.flush();
  notePages(job, interpreter);
  if (time.isSpent()) stop.why = 'cpu';
  return stop.why !== undefined;
}

function notePages({ shared }: WasmJob, { memory }: Interpreter): void {
  Atomics.store(new Int32Array(shared), SHARED.pages, memory.buffer.byteLength / PAGE_BYTES);
}

/** @returns the function that reports an uncaught error */
function makeWorld({ job, interpreter, output, stop }: Run): QuickJSHandle {
  const { runtime, context } = interpreter;
  const defined = new Map<string, string>();
  runtime.setModuleLoader(
    (name) =>
      defined.get(name) ?? {
        error: new Error(`there is no module ${JSON.stringify(name.slice(0, WASM_BOUNDS.moduleNameMax))} here`),
      },
    (_from, name) => name,
  );
  const read = createInput(job, () => output.flush());
  const textOf = (handle: QuickJSHandle): string => JSON.parse(context.getString(handle)) as string;
  const made = [
    context.newFunction('write', (stream, text) => {
      if (stop.why === undefined) output.write(context.getNumber(stream) === 1 ? 1 : 2, textOf(text));
    }),
    context.newFunction('read', () => {
      const piece = stop.why === undefined ? read() : null;
      return piece === null ? context.null : context.newString(JSON.stringify(piece));
    }),
    context.newFunction('leave', (code) => {
      if (stop.why !== undefined) return;
      stop.why = 'exit';
      stop.code = context.getNumber(code);
    }),
    context.newFunction('define', (name, source) => {
      defined.set(textOf(name), textOf(source));
    }),
    context.newString(JSON.stringify({ args: job.args, environment: job.environment })),
  ];
  return context.unwrapResult(context.callFunction(interpreter.prelude, context.undefined, ...made));
}

/** @returns true when the cause was lack of memory */
function reportError(run: Run, report: QuickJSHandle, thrown: QuickJSHandle): boolean {
  const { interpreter, output } = run;
  const { context } = interpreter;
  const said = context.callFunction(report, context.undefined, thrown);
  if (said.error !== undefined) {
    output.write(2, 'Uncaught: what was thrown cannot be shown.\n');
    return interpreter.memoryRefused();
  }
  const kind: unknown = context.dump(said.value);
  // Where there is no memory left for an error, null is thrown in its place.
  return kind === OUT_OF_MEMORY || (kind === NULL && interpreter.memoryRefused());
}

/** What the report of the prelude gives. */
const OUT_OF_MEMORY = 1;
const NULL = 2;
