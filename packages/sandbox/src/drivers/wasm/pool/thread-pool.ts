import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { WASM_BOUNDS, type WasmSettings } from '../settings.ts';
import type { WasmModule } from '../web-assembly.ts';
import { startThread, type Thread } from './thread.ts';

/** Work for one thread. */
export interface Task {
  begin(thread: Thread): void;
  /** The thread ended before the work did. */
  lost(cause: Error | undefined): void;
}

/** Threads that run scripts, and the scripts that wait for one. */
export interface ThreadPool {
  /**
   * Begins the task now or later.
   * @throws E3101 when too many wait
   */
  add(task: Task): void;
  /** Takes back a task that has not begun. */
  withdraw(task: Task): void;
  /** Returns a thread after its task; a `broken` one is not reused. */
  release(thread: Thread, end: { readonly takenBytes: number; readonly broken: boolean }): void;
  /** A thread for work that must precede everything else; released like any other. */
  borrow(): Thread;
  /** Starts the threads that stand ready. */
  warm(): void;
  /** Ends every thread. Nothing can be added afterwards. */
  close(): Promise<void>;
}

interface State {
  readonly settings: WasmSettings;
  readonly wasmModule: WasmModule;
  /** All live threads, with their current work. */
  readonly threads: Map<Thread, Task | 'idle' | 'borrowed' | 'ending'>;
  /** Idle threads, longest idle first, each with the timer that would end it. */
  readonly idle: Map<Thread, NodeJS.Timeout | undefined>;
  readonly waiting: Set<Task>;
  closed: boolean;
}

/** Makes a pool without threads. */
export function createThreadPool(wasmModule: WasmModule, settings: WasmSettings): ThreadPool {
  const state: State = {
    settings,
    wasmModule,
    threads: new Map(),
    idle: new Map(),
    waiting: new Set(),
    closed: false,
  };
  return {
    add: (task) => add(state, task),
    withdraw: (task) => void state.waiting.delete(task),
    release: (thread, end) => release(state, thread, end),
    borrow() {
      const thread = takeIdle(state) ?? start(state);
      state.threads.set(thread, 'borrowed');
      return thread;
    },
    warm: () => warm(state),
    async close() {
      state.closed = true;
      state.waiting.clear();
      for (const timer of state.idle.values()) clearTimeout(timer);
      await Promise.all([...state.threads.keys()].map((thread) => thread.end()));
    },
  };
}

function add(state: State, task: Task): void {
  if (state.closed) throw new ToolLayerError('E3101', 'No sandbox can be made: the layer is being closed.');
  const thread = takeIdle(state) ?? (state.threads.size < state.settings.workersMax ? start(state) : undefined);
  if (thread !== undefined) {
    begin(state, thread, task);
    return;
  }
  if (state.waiting.size >= WASM_BOUNDS.waitingMax) {
    throw new ToolLayerError('E3101', `More than ${WASM_BOUNDS.waitingMax} scripts wait. Try again later.`);
  }
  state.waiting.add(task);
}

function begin(state: State, thread: Thread, task: Task): void {
  state.threads.set(thread, task);
  task.begin(thread);
}

/** The most recently used: its code is the warmest, and the others may end. */
function takeIdle(state: State): Thread | undefined {
  const last = [...state.idle].at(-1);
  if (last === undefined) return undefined;
  const [thread, timer] = last;
  clearTimeout(timer);
  state.idle.delete(thread);
  return thread;
}

function start(state: State): Thread {
  const thread: Thread = startThread(state.wasmModule, (cause) => {
    const doing = state.threads.get(thread);
    state.threads.delete(thread);
    clearTimeout(state.idle.get(thread));
    state.idle.delete(thread);
    if (typeof doing === 'object') doing.lost(cause);
    beginNext(state);
    // A thread that ended by its own fault would do so again.
    if (cause === undefined) warm(state);
  });
  state.threads.set(thread, 'idle');
  return thread;
}

function release(state: State, thread: Thread, end: { readonly takenBytes: number; readonly broken: boolean }): void {
  if (!state.threads.has(thread)) return;
  thread.takenBytes += end.takenBytes;
  if (end.broken || thread.takenBytes > WASM_BOUNDS.takenBytesMax || state.closed) {
    state.threads.set(thread, 'ending');
    void thread.end();
    return;
  }
  const [task] = state.waiting;
  if (task === undefined) {
    rest(state, thread);
    return;
  }
  state.waiting.delete(task);
  begin(state, thread, task);
}

function rest(state: State, thread: Thread): void {
  state.threads.set(thread, 'idle');
  const isWarm = state.idle.size < state.settings.warmWorkers;
  const timer = isWarm ? undefined : setTimeout(() => void thread.end(), WASM_BOUNDS.idleMs).unref();
  state.idle.set(thread, timer);
}

function beginNext(state: State): void {
  const [task] = state.waiting;
  if (task === undefined || state.closed || state.threads.size >= state.settings.workersMax) return;
  state.waiting.delete(task);
  begin(state, start(state), task);
}

function warm(state: State): void {
  if (state.closed) return;
  while (state.idle.size < state.settings.warmWorkers && state.threads.size < state.settings.workersMax) {
    state.idle.set(start(state), undefined);
  }
}
