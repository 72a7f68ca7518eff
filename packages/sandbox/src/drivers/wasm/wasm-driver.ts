import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { MiB } from '@sallyport/std/bytes';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DriverProbe, SandboxDriver, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import { createThreadPool, type ThreadPool } from './pool/thread-pool.ts';
import { SHARED, type SyntaxFault } from './protocol.ts';
import { runScript } from './script-run.ts';
import { WASM_BOUNDS, WASM_DEFAULTS, type WasmSettings } from './settings.ts';
import { checkSpec, endedBefore } from './spec.ts';
import { type WasmModule, webAssembly } from './web-assembly.ts';

export type { SyntaxFault, WasmSettings };

/** The driver, with what an interpreter can do beside running. Closing ends its threads and what runs in them. */
export interface WasmDriver extends SandboxDriver, AsyncDisposable {
  /**
   * Reads a source without running it, and waits for the answer: a few ms, some 100 ms the first time.
   * @returns undefined when its syntax is good
   * @throws E3101 when there is no interpreter, or no answer within 5 s
   */
  checkSource(source: string, format: 'module' | 'script'): SyntaxFault | undefined;
  /** What runs or waits now, in the order in which it came. */
  running(): readonly SandboxSpec[];
}

/** Version of the interpreter that the package was built with. */
const QUICKJS_VERSION = 'quickjs-ng 0.12.1';

/**
 * JavaScript in an interpreter that is itself WebAssembly: for every script a fresh one with a memory of its own, in a
 * thread that can be ended at any moment. The command is `js`, the source of an ES module, and its arguments.
 */
export function createWasmDriver(settings: Partial<WasmSettings> = {}): WasmDriver {
  const all = { ...WASM_DEFAULTS, ...settings };
  const running = new Map<SandboxProcess, SandboxSpec>();
  let opened: ThreadPool | undefined;
  let closed = false;
  const pool = (): ThreadPool => {
    if (closed) throw new ToolLayerError('E3101', 'No sandbox can be made: the layer is being closed.');
    opened ??= createThreadPool(loadInterpreter(), all);
    return opened;
  };
  let probed: Promise<DriverProbe> | undefined;
  const start = (spec: SandboxSpec): SandboxProcess => {
    checkSpec(spec);
    const [program, source = '', ...args] = spec.command;
    const before = endedBefore(spec, program);
    if (before !== undefined) return before;
    const script = runScript(pool(), { source, args }, spec);
    running.set(script, spec);
    void script.exited.then(() => running.delete(script));
    return script;
  };
  return {
    name: 'wasm',
    isolation: 'interpreter',
    supports: { egress: false, mounts: false, programs: 'javascript' },
    probe() {
      probed ??= probe(pool, start);
      return probed;
    },
    start: async (spec) => start(spec),
    checkSource: (source, format) => checkSource(pool(), source, format),
    running: () => [...running.values()],
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const script of running.keys()) script.kill();
      await opened?.close();
    },
  };
}

function loadInterpreter(): WasmModule {
  const name = '@jitl/quickjs-ng-wasmfile-release-sync/wasm';
  try {
    return new webAssembly.Module(readFileSync(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new ToolLayerError('E3101', `The interpreter for scripts is missing. ${HOW_TO_INSTALL}`, { cause });
  }
}

const HOW_TO_INSTALL = 'Install it: npm install @jitl/quickjs-ng-wasmfile-release-sync quickjs-emscripten-core';

const TRIAL: SandboxSpec = {
  label: 'trial',
  command: ['js', 'stdout.write("works")'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: WASM_BOUNDS.memoryMbMin, processesMax: 1, diskMb: 1 },
};

async function probe(pool: () => ThreadPool, start: (spec: SandboxSpec) => SandboxProcess): Promise<DriverProbe> {
  try {
    pool().warm();
    const trial = start(TRIAL);
    const [, said, complaint] = await Promise.all([trial.exited, text(trial.stdout), text(trial.stderr)]);
    if (said === 'works') return { works: true, version: QUICKJS_VERSION, weaknesses: [] };
    return { works: false, problem: `${complaint.trim()} ${HOW_TO_INSTALL}`, weaknesses: [] };
  } catch (error) {
    return { works: false, problem: messageOf(error), weaknesses: [] };
  }
}

/** Each check has a memory of its own. */
const CHECK_TAKES_BYTES = WASM_BOUNDS.memoryMbMin * MiB;

/** The thread answers without this one, which stands still meanwhile: registration judges a manifest in one step. */
function checkSource(pool: ThreadPool, source: string, format: 'module' | 'script'): SyntaxFault | undefined {
  const { port1, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(SHARED.length * Int32Array.BYTES_PER_ELEMENT);
  const thread = pool.borrow();
  thread.give({ kind: 'check', source, format, shared, port: port2 });
  const answered = Atomics.wait(new Int32Array(shared), SHARED.checked, 0, WASM_BOUNDS.checkMs) !== 'timed-out';
  const answer = receiveMessageOnPort(port1) as { readonly message: SyntaxFault | null } | undefined;
  port1.close();
  pool.release(thread, { takenBytes: CHECK_TAKES_BYTES, broken: !answered || answer === undefined });
  if (answer === undefined) {
    throw new ToolLayerError('E3101', 'The syntax of the module could not be checked in time. Try again.');
  }
  return answer.message ?? undefined;
}
