import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { keepBytes } from '../../../linux/kept-bytes.ts';
import { childrenOf } from '../../../linux/limits/watch-tree.ts';
import { createForkServer, type Forked, type ForkServer, type ForkServerParts } from './fork-server.ts';

const isRoot = process.getuid?.() === 0;

const partsOf = (script: string, more: Partial<ForkServerParts> = {}): ForkServerParts => ({
  command: ['/bin/sh', '-c', script, 'forked'],
  sockets: 3,
  files: [],
  inherited: [],
  nothing: { open: () => openSync('/dev/null', 'r') },
  sharesUser: false,
  ...more,
});

/** Repeats the request until the server is ready. */
async function forked(server: ForkServer, uid?: number): Promise<Forked> {
  for (;;) {
    const process = server.fork(uid);
    if (process !== undefined) return await process;
    await sleep(5);
  }
}

async function outputOf({ pipes: [stdin, stdout] }: Forked): Promise<string> {
  stdin?.end();
  return await text(stdout as Socket);
}

async function endOf({ child }: Forked): Promise<unknown> {
  return child.exitCode === null && child.signalCode === null
    ? await once(child, 'exit')
    : [child.exitCode, child.signalCode];
}

const statusOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0];
  } catch {
    return undefined;
  }
};
const lives = (pid: number): boolean => !['Z', undefined].includes(statusOf(pid));
const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('a process gets its sockets and nothing else, at the head of a session of its own', async () => {
  const server = createForkServer(
    partsOf(
      // No pipe after `ls`, because the shell would hold its ends for a moment. The last `:` keeps the shell from
      // replacing itself by `ls`.
      'pwd; env | grep -v ^PWD; read -r stat </proc/$$/stat; set -- $stat; echo $(($6 - $$)); ls /proc/$$/fd; :',
      { files: [keepBytes(''), keepBytes('')], inherited: [30] },
    ),
  );
  const process = await forked(server);
  expect((await outputOf(process)).trim().split('\n')).toEqual(['/', '0', ...'01234']);
  expect(await endOf(process)).toEqual([0, null]);
});

test('SBX-03 what shares the user of the layer waits for the server, since nothing else bounds it', async () => {
  const server = createForkServer(partsOf('cat /proc/sys/user/max_inotify_instances', { sharesUser: true }));
  const first = server.fork(undefined);
  if (first === undefined) throw new Error('it was left to the layer');
  const bound = Number(await outputOf(await first));
  expect(bound).toBeGreaterThan(0);
  expect(bound).toBeLessThanOrEqual(Number(readFileSync('/proc/sys/fs/inotify/max_user_instances', 'utf8')) / 2);
  expect(server.isBounded()).toBe(true);
});

test('what is written to a process arrives, and what it says comes back, on each socket', async () => {
  const server = createForkServer(partsOf('cat; cat <&3 >&4; echo fault >&2', { sockets: 5 }));
  const [first, second] = await Promise.all([forked(server), forked(server)]);
  for (const [{ pipes }, word] of [[first, 'first'] as const, [second, 'second'] as const]) {
    pipes[0]?.end(word);
    pipes[3]?.end(`${word} more`);
  }
  const said = await Promise.all(
    [first, second].flatMap(({ pipes }) => [1, 2, 4].map((place) => text(pipes[place] as Socket))),
  );
  expect(said).toEqual(['first', 'fault\n', 'first more', 'second', 'fault\n', 'second more']);
});

test('a process that does not read holds the layer up by nothing', async () => {
  const { pipes, child } = await forked(createForkServer(partsOf('read -r end <&1; exit 7')));
  pipes[0]?.write(Buffer.alloc(4 * MiB));
  await sleep(20);
  expect(pipes[0]?.writableLength).toBeGreaterThan(0);
  pipes[1]?.end('\n');
  expect(await endOf({ child, pipes })).toEqual([7, null]);
});

test('each process reads the files from their beginning', async () => {
  const files = [keepBytes('one'), keepBytes('two')];
  const server = createForkServer(partsOf('cat <&3; cat <&4', { files }));
  for (let round = 0; round < 2; round += 1) expect(await outputOf(await forked(server))).toBe('onetwo');
});

test('how a process ended is told as of a child of the layer', async () => {
  const server = createForkServer(partsOf('read -r end; eval "$end"'));
  for (const [script, end] of [
    ['exit 7', [7, null]],
    ['kill -TERM $$', [null, 'SIGTERM']],
    ['kill -KILL $$', [null, 'SIGKILL']],
  ] as const) {
    const process = await forked(server);
    process.pipes[0]?.end(`${script}\n`);
    expect(await endOf(process)).toEqual(end);
  }
});

test.runIf(isRoot)('a process that is lent a uid has no other, and no group', async () => {
  const { layer, said } = await startLayer('grep -E "^([UG]id|Groups|Cap(Eff|Prm)):" /proc/$$/status', {
    before: 'process.setgroups([0, 4711]);',
    uid: 61_234,
  });
  layer.kill('SIGKILL');
  const lines = said.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  const none = '0'.repeat(16);
  const ids = ' 61234'.repeat(4);
  expect(lines.slice(1)).toEqual([`Uid:${ids}`, `Gid:${ids}`, 'Groups:', `CapPrm: ${none}`, `CapEff: ${none}`, '']);
});

test('a command that cannot be run ends', async () => {
  const process = await forked(createForkServer({ ...partsOf(''), command: ['/nowhere/program'] }));
  expect(await endOf(process)).toEqual([125, null]);
});

test('there is none where perl is missing', () => {
  expect(createForkServer(partsOf('', { perl: '/nowhere/perl' })).fork(undefined)).toBeUndefined();
});

test('when the server is killed, so counts what it started, orders fail, and the next use starts another', async () => {
  const server = createForkServer(partsOf('read -r end'));
  const process = await forked(server);
  const killed = parentOf(process.child.pid);
  globalThis.process.kill(killed, 'SIGSTOP');
  const order = server.fork(undefined);
  const refused = expect(order).rejects.toThrow('has ended');
  globalThis.process.kill(killed, 'SIGKILL');
  expect(await endOf(process)).toEqual([null, 'SIGKILL']);
  await refused;
  for (const pipe of process.pipes) pipe.destroy();
  const next = await forked(server);
  expect(parentOf(next.child.pid)).not.toBe(killed);
  next.pipes[0]?.end('\n');
  expect(await endOf(next)).toEqual([0, null]);
});

test('a server that does not answer is asked no more, and what it started lives on', async () => {
  const server = createForkServer(partsOf('read -r end; exit 7', { answerTimeoutMs: 50 }));
  const before = await forked(server);
  const stopped = parentOf(before.child.pid);
  process.kill(stopped, 'SIGSTOP');
  await expect(server.fork(undefined)).rejects.toThrow('does not answer');
  expect(server.fork(undefined)).toBeUndefined();
  process.kill(stopped, 'SIGCONT');
  before.pipes[0]?.end('\n');
  expect(await endOf(before)).toEqual([7, null]);
  // The process that was forked too late has ended too.
  while (childrenOf(stopped).length > 0) await sleep(5);
});

interface LayerSays {
  readonly layer: ChildProcess;
  readonly said: string;
  /** Pids of the fork server and its processes. */
  readonly pids: readonly number[];
}

/** A process with a fork server that has started a shell, and the shell's output. */
async function startLayer(
  script: string,
  {
    before = '',
    after = '',
    uid,
    waits = false,
  }: { before?: string; after?: string; uid?: number; waits?: boolean } = {},
): Promise<LayerSays> {
  const command = ['/bin/sh', '-c', `echo $PPID $$; ${script}; read -r end`];
  const program = `
    import { openSync } from 'node:fs';
    const { createForkServer } = await import(${JSON.stringify(join(import.meta.dirname, 'fork-server.ts'))});
    ${before}
    const server = createForkServer({ command: ${JSON.stringify(command)}, sockets: 2, files: [], inherited: [],
      nothing: { open: () => openSync('/dev/null', 'r') } });
    let forked;
    while ((forked = server.fork(${uid}, ${waits})) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const { child, pipes } = await forked;
    // A process that still waits for its stage has not become a shell, so it prints nothing.
    if (${waits}) process.stdout.write(child.pid + '\\n');
    let said = '';
    pipes[1].on('data', (part) => {
      said += part;
      process.stdout.write(part);
      if (said.split('\\n').length > 1) { ${after} }
    });`;
  const layer = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const part of layer.stdout ?? []) {
    said += part;
    if (said.split('\n').length > (script === ':' ? 1 : 6)) break;
  }
  return { layer, said, pids: (said.split('\n')[0] ?? '').split(' ').map(Number) };
}

async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some(lives)) await sleep(5);
}

test('SBX-08 the server and what waits end with a layer that is killed', async () => {
  const { layer, pids } = await startLayer(':');
  expect(pids.map(lives)).toEqual([true, true]);
  layer.kill('SIGKILL');
  await untilGone(pids);
});

test('SBX-08 what waits for a stage ends with a layer that is killed', async () => {
  const { layer, pids } = await startLayer(':', { waits: true });
  const [waiting = 0] = pids;
  expect(lives(waiting)).toBe(true);
  layer.kill('SIGKILL');
  await untilGone([waiting]);
});

test('SBX-08 a server that has nothing to wait for ends with its layer too', async () => {
  const { layer, pids } = await startLayer(':', { after: 'pipes[0].end("\\n");' });
  await untilGone(pids.slice(1));
  // Waits until the layer has read everything; if the layer ended earlier, the server would end by an error instead.
  await sleep(100);
  layer.kill('SIGKILL');
  await untilGone(pids);
});

test('the server keeps no layer from its end, unless it shall stay for a process', async () => {
  const { layer, pids } = await startLayer(':', { after: 'child.unref(); for (const pipe of pipes) pipe.unref();' });
  if (layer.exitCode === null) await once(layer, 'exit');
  expect(layer.exitCode).toBe(0);
  await untilGone(pids);
});

test('SBX-08 a server that stands still costs one order, is ended, and another takes its place', async () => {
  const server = createForkServer(partsOf('read -r end; exit 7', { answerTimeoutMs: 1_000, silenceMs: 200 }));
  const before = await forked(server);
  const stopped = parentOf(before.child.pid);
  process.kill(stopped, 'SIGSTOP');
  await expect(server.fork(undefined)).rejects.toThrow('does not answer');
  const next = await forked(server);
  expect(parentOf(next.child.pid)).not.toBe(stopped);
  // A caller that waits for a process of the old server is notified that the process ended.
  expect(await endOf(before)).toEqual([null, 'SIGKILL']);
  await untilGone([stopped]);
  for (const pipe of before.pipes) pipe.destroy();
  next.pipes[0]?.end('\n');
  expect(await endOf(next)).toEqual([7, null]);
});
