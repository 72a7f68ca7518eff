import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Load, LoadCommand, LoadMessage, LoadSpan, Target } from './target.ts';

/** Callers in a process of their own. One order at a time. */
export interface LoadGenerator extends Disposable {
  /**
   * Opens callers that stay: sessions and streams are kept between rounds.
   * @returns their number, for `run`
   */
  open(target: Target, callers: number): Promise<number>;
  /** Opens sessions of MCP, each with a stream that stays open and idle until the generator is disposed. */
  hold(target: Target, streams: number): Promise<void>;
  /** Lets some of them call. `onBegin` is called when the time starts to run. */
  run(id: number, callers: number, span: LoadSpan, onBegin?: () => void): Promise<Load>;
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(join(import.meta.dirname, 'generator.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    async open(target, callers) {
      const { id } = await obeyed(child, { order: 'open', target, callers }, 'opened');
      return id;
    },
    async hold(target, streams) {
      await obeyed(child, { order: 'hold', target, streams }, 'held');
    },
    async run(id, callers, span, onBegin) {
      const { load } = await obeyed(child, { order: 'run', id, callers, span }, 'finished', onBegin);
      return load;
    },
    [Symbol.dispose]: () => {
      child.kill('SIGKILL');
    },
  };
}

type Last = 'opened' | 'held' | 'finished';

async function obeyed<L extends Last>(
  child: ChildProcess,
  command: LoadCommand,
  last: L,
  onBegin?: () => void,
): Promise<Extract<LoadMessage, { readonly says: L }>> {
  const { promise, resolve, reject } = Promise.withResolvers<Extract<LoadMessage, { readonly says: L }>>();
  const listen = (message: LoadMessage) => {
    if (message.says === 'began') onBegin?.();
    else if (message.says === 'failed') reject(new Error(message.reason));
    else if (isLast(message, last)) resolve(message);
  };
  const gone = () => reject(new Error('the load generator ended'));
  child.on('message', listen);
  child.once('exit', gone);
  child.send(command);
  try {
    return await promise;
  } finally {
    child.off('message', listen);
    child.off('exit', gone);
  }
}

function isLast<L extends Last>(message: LoadMessage, last: L): message is Extract<LoadMessage, { readonly says: L }> {
  return message.says === last;
}
