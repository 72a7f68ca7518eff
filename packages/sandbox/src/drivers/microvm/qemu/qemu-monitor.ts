import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MICROVM_BOUNDS } from '../settings.ts';

/** QEMU's own control language (QMP): one command after another. */
export interface QemuMonitor {
  /** @throws Error with QEMU's words, or when no answer comes */
  run(command: string, args?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
}

/** @throws Error when QEMU does not greet */
export async function openQemuMonitor(socket: Socket): Promise<QemuMonitor> {
  const messages = readMessages(socket);
  const answer = async (): Promise<Message> => {
    for (;;) {
      const message = await messages();
      if (!('event' in message)) return message;
    }
  };
  const run: QemuMonitor['run'] = async (command, args = {}) => {
    socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`);
    const { error, return: result } = await answer();
    if (error !== undefined) throw new Error(`QEMU refuses ${command}: ${JSON.stringify(error)}`);
    return (result ?? {}) as Readonly<Record<string, unknown>>;
  };
  await answer();
  await run('qmp_capabilities');
  return { run };
}

/** Writes the whole state of a machine to a unix socket and waits until it is there; the machine stands still afterwards. */
export async function saveState({ run }: QemuMonitor, socketPath: string): Promise<void> {
  await run('migrate-set-parameters', { 'max-bandwidth': Number.MAX_SAFE_INTEGER });
  await run('migrate', { uri: `unix:${socketPath}` });
  const giveUpAt = performance.now() + MICROVM_BOUNDS.answerTimeoutMs;
  for (;;) {
    const { status } = await run('query-migrate');
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled' || performance.now() > giveUpAt) {
      throw new Error(`QEMU could not save the state of a machine: ${String(status)}`);
    }
    await sleep(MICROVM_BOUNDS.retryMs);
  }
}

type Message = Readonly<Record<string, unknown>>;

/** Gives one message after another. @returns a function that rejects when none comes in time, or QEMU is gone */
function readMessages(socket: Socket): () => Promise<Message> {
  const waiting: string[] = [];
  let held = '';
  let wake: (() => void) | undefined;
  socket.on('data', (part: Buffer) => {
    const lines = (held + String(part)).split('\n');
    held = lines.pop() ?? '';
    waiting.push(...lines.filter((line) => line.trim() !== ''));
    if (held.length > MICROVM_BOUNDS.answerBytesMax) socket.destroy();
    wake?.();
  });
  socket.once('close', () => wake?.());
  socket.resume();
  return async () => {
    const late = setTimeout(() => socket.destroy(), MICROVM_BOUNDS.answerTimeoutMs);
    try {
      while (waiting.length === 0) {
        if (socket.destroyed) throw new Error('QEMU does not answer.');
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      return JSON.parse(waiting.shift() ?? '') as Message;
    } finally {
      clearTimeout(late);
    }
  };
}
