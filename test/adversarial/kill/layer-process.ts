import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Settings } from '../../../packages/sallyport/src/index.ts';
import type { SocketConnection } from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import type { LayerProgram } from './layer-program.ts';
import type { Places } from './plan.ts';

/** How a layer is started. */
export interface LayerOrder {
  readonly settings: Partial<Settings>;
  readonly places: Places;
  /** The folder that holds both places. */
  readonly folder: string;
}

/** What a layer reports once it accepts requests. */
export interface LayerReady {
  readonly url: string;
  /** A capability token for each client. */
  readonly tokens: readonly string[];
  /** API key of an admin. */
  readonly operator: string;
  readonly embeddedDatabase?: SocketConnection;
}

/** A moment in the life of a layer that the layer reports. */
export type Mark = 'recovering' | 'effect' | 'rollback';

/** A running process of the layer. */
export interface LayerProcess {
  readonly pid: number;
  /** Rejects when the process ends before it is ready. */
  readonly ready: Promise<LayerReady>;
  /** Resolves at the next mark of that kind. */
  next(mark: Mark): Promise<void>;
  /** Sends SIGKILL: the layer cannot clean up. */
  kill(): Promise<void>;
  /** Sends SIGTERM: the layer finishes its calls. */
  stop(): Promise<void>;
}

/** The number of log lines that are kept, to explain a failure. */
const LINES_MAX = 60;

/** Makes a function that starts the layer, again and again, in a new process. */
export function createLayerStarter(order: LayerOrder, { args }: LayerProgram) {
  const lines: string[] = [];
  return {
    /** The last log lines of the layers. */
    lines: lines as readonly string[],
    start(): LayerProcess {
      const child = spawn(process.execPath, [...args, JSON.stringify(order)], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] },
      });
      const exited = once(child, 'exit');
      const marks = new EventEmitter();
      const ready = Promise.withResolvers<LayerReady>();
      createInterface({ input: child.stdout }).on('line', (line) => {
        const at = line.indexOf(' ');
        const word = line.slice(0, at);
        if (word === 'log') lines.push(`${child.pid} ${line}`);
        if (lines.length > LINES_MAX) lines.shift();
        if (word === 'ready') ready.resolve(JSON.parse(line.slice(at)) as LayerReady);
        else marks.emit(word);
      });
      void exited.then(() => ready.reject(new Error('the layer ended before it was ready')));
      // A process that is killed while it starts rejects, and nothing waits for that promise.
      ready.promise.catch(() => undefined);
      const end = async (signal: NodeJS.Signals): Promise<void> => {
        if (child.exitCode === null && child.signalCode === null) child.kill(signal);
        await exited;
      };
      return {
        pid: child.pid ?? 0,
        ready: ready.promise,
        next: async (mark) => void (await once(marks, mark)),
        kill: () => end('SIGKILL'),
        stop: () => end('SIGTERM'),
      };
    },
  };
}
