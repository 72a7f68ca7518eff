import { text } from 'node:stream/consumers';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, expect, test } from 'vitest';
import { collectOutput } from '../../collect-output.ts';
import { loadWebSocket } from './exec/web-socket.ts';
import { PATHS } from './fake/fake-cluster.fixture.ts';
import { type PodExecEvents, scriptedPod } from './fake/fake-pod.fixture.ts';
import { type Opened, openFake, podThat, specOf } from './fake/opened.fixture.ts';
import type { KubernetesBounds } from './settings.ts';

let opened: Opened | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(
  act: (events: PodExecEvents) => void,
  bounds: Partial<KubernetesBounds> = {},
  reaper = '',
): Promise<Opened> {
  opened = await openFake({}, { goneTimeoutMs: 500, ...bounds });
  opened.cluster.behaviour.newPod = () => podThat(act, reaper);
  return opened;
}

/** The exec stream of the tool, not of another command. */
const toolStream = ({ cluster }: Opened) => cluster.execs.find(({ command }) => command[2]?.startsWith("n='"));

test('a stream that breaks after the start is a lost sandbox, and is not tried again', async () => {
  const all = await open((events) => {
    events.output(1, Buffer.from('half'));
    setTimeout(() => toolStream(all)?.socket.destroy(), 10);
  });
  const running = await all.driver.start(specOf());
  expect(await text(running.stdout)).toBe('half');
  const exit = await running.exited;
  expect(exit).toMatchObject({ lost: true });
  expect([exit.code, exit.signal, exit.notStarted]).toEqual([undefined, undefined, undefined]);
  expect(all.cluster.execs.filter(({ command }) => command[2]?.startsWith("n='"))).toHaveLength(1);
  expect(all.cluster.store.list(PATHS.claims)).toEqual([]);
});

test('a connection that falls silent is a lost sandbox', async () => {
  const all = await open(() => toolStream(all)?.socket.pause(), { pingEveryMs: 20, silenceMaxMs: 60 });
  expect(await (await all.driver.start(specOf())).exited).toMatchObject({ lost: true });
});

test.each<[string, (all: Opened) => void]>([
  ['too large', (all) => toolStream(all)?.socket.write(Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]))],
  ['of an unknown extension', (all) => toolStream(all)?.socket.write(Buffer.from([0xc2, 0]))],
  ['out of order', (all) => toolStream(all)?.socket.write(Buffer.from([0x80, 1, 1]))],
  ['a broken control frame', (all) => toolStream(all)?.socket.write(Buffer.from([0x09, 0]))],
  ['a status that is no JSON', (all) => toolStream(all)?.send(3, Buffer.from('{')) ?? toolStream(all)?.socket.end()],
])('frames that are %s end in a lost sandbox, and nothing worse', async (_what, send) => {
  const all = await open(() => {
    send(all);
    setTimeout(() => toolStream(all)?.socket.end(), 20);
  });
  expect(await (await all.driver.start(specOf())).exited).toMatchObject({ lost: true });
});

test('messages in pieces, with pings between, are put together', async () => {
  const all = await open((events) => {
    const socket = toolStream(all)?.socket;
    const whole = Buffer.from([0x82, 8, 1, ...Buffer.from('one two')]);
    socket?.write(Buffer.from([0x02, 5, 1, ...Buffer.from('one ')]));
    socket?.write(Buffer.from([0x89, 1, ...Buffer.from('?')]));
    socket?.write(Buffer.from([0x80, 3, ...Buffer.from('two')]));
    for (const byte of whole) socket?.write(Buffer.of(byte));
    setTimeout(() => events.exit(0), 20);
  });
  const running = await all.driver.start(specOf());
  expect(await text(running.stdout)).toBe('one twoone two');
  expect((await running.exited).code).toBe(0);
});

test('a program that the container runtime refuses did not start, and stderr says why', async () => {
  const all = await open(() => {});
  all.cluster.behaviour.newPod = () =>
    scriptedPod((command, events) => {
      if (!command[2]?.startsWith("n='")) events.exit(0);
      else setTimeout(() => toolStream(all)?.finish({ status: 'Failure', message: 'exec: "/bin/sh": not found' }), 5);
      return undefined;
    });
  const running = await all.driver.start(specOf());
  const [stderr, exit] = await Promise.all([text(running.stderr), running.exited]);
  expect(stderr).toContain('"/bin/sh": not found');
  expect(exit).toMatchObject({ notStarted: true });
});

test('an API server that knows no v5.channel.k8s.io is told apart', async () => {
  const all = await open(() => {});
  all.cluster.behaviour.protocol = 'v4.channel.k8s.io';
  await expect(all.driver.start(specOf())).rejects.toMatchObject({ code: 'E3101' });
  expect(all.cluster.store.list(PATHS.claims)).toEqual([]);
});

test('an absent package for WebSockets is named', async () => {
  const absent = Object.assign(new Error("Cannot find package 'ws'"), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(loadWebSocket(() => Promise.reject(absent))).rejects.toThrow('the npm package ws');
});

test('SBX-08 an exec that is refused leaves no claim', async () => {
  const all = await open(() => {});
  await all.driver.probe();
  all.cluster.behaviour.fault = ({ path }) => (path.endsWith('/exec') ? { status: 403, message: 'no' } : undefined);
  await expect(all.driver.start(specOf())).rejects.toMatchObject({ code: 'E3101' });
  expect(all.cluster.store.list(PATHS.claims)).toEqual([]);
});

test('SBX-07 what the container used after the tool began is told', async () => {
  const reaper = 'cpu.stat usage_usec 251000\nmemory.peak 33554432\nmemory.events oom_kill 0\n';
  const { driver } = await open((events) => events.exit(0), {}, reaper);
  expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0, cpuMs: 250, memoryPeakMb: 32 });
});

test.each<[string, number, string, object]>([
  ['memory', 137, 'memory.events oom_kill 1\n', { signal: 'SIGKILL', violation: 'memory' }],
  [
    'memory, in version 1 of control groups',
    1,
    'memory/memory.oom_control oom_kill 2\n',
    { code: 1, violation: 'memory' },
  ],
  ['disk', 153, '', { signal: 'SIGXFSZ', violation: 'disk' }],
  ['cpu', 152, '', { signal: 'SIGXCPU', violation: 'cpu' }],
])('SBX-03 a tool that reached its limit of %s is told so', async (_what, code, reaper, exit) => {
  const { driver } = await open((events) => events.exit(code), {}, reaper);
  expect(await (await driver.start(specOf())).exited).toMatchObject(exit);
});

test('SBX-03 a container that the kernel ended for its memory is told so', async () => {
  const all = await open(() => {
    const name = all.cluster.store.list(PATHS.pods)[0]?.metadata.name ?? '';
    const containerStatuses = [{ name: 'tool', lastState: { terminated: { reason: 'OOMKilled' } } }];
    all.cluster.store.change(PATHS.pods, name, (pod) => ({ ...pod, status: { containerStatuses } }));
    all.cluster.behaviour.fault = ({ path }) => (path.endsWith('/exec') ? { status: 500 } : undefined);
    toolStream(all)?.socket.destroy();
  });
  expect(await (await all.driver.start(specOf())).exited).toMatchObject({ signal: 'SIGKILL', violation: 'memory' });
});

test('SBX-08 a pod that cannot be reached any more is cut off and deleted when it is killed', async () => {
  const all = await open(() => {}, { killTimeoutMs: 100, reapTimeoutMs: 50 });
  const running = await all.driver.start(specOf());
  all.cluster.behaviour.fault = ({ path }) => (path.endsWith('/exec') ? { status: 500 } : undefined);
  running.kill();
  expect(await running.exited).toMatchObject({ signal: 'SIGKILL' });
  expect(all.cluster.store.list(PATHS.claims)).toEqual([]);
});

test('a tool that says nothing of the contract did not start', async () => {
  const all = await open(() => {});
  all.cluster.behaviour.newPod = () =>
    scriptedPod((_command, events) => {
      setTimeout(() => {
        events.output(1, Buffer.from('not the word\n'));
        events.exit(0);
      }, 5);
      return undefined;
    });
  const running = await all.driver.start(specOf());
  expect(await text(running.stdout)).toBe('not the word\n');
  expect(await running.exited).toMatchObject({ notStarted: true });
});

test('an output that is read slowly makes the other side wait, and arrives whole', async () => {
  const bytes = 12 * MiB;
  const all = await open((events) => {
    for (let sent = 0; sent < bytes; sent += MiB) events.output(1, Buffer.alloc(MiB, 'x'));
    events.exit(0);
  });
  const running = await all.driver.start(specOf());
  let read = 0;
  for await (const part of running.stdout) {
    read += (part as Buffer).length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(read).toBe(bytes);
  expect((await running.exited).code).toBe(0);
});

test('SBX-03 a flood is cut by the collector', async () => {
  const all = await open((events) => {
    for (let part = 0; part < 8; part += 1) events.output(1, Buffer.alloc(MiB, 'x'));
  });
  const running = await all.driver.start(specOf());
  const pending = collectOutput(running, { stdoutBytesMax: 10, stderrBytesMax: 10, drainedBytesMax: 2 * MiB });
  // The scripted tool cannot receive a signal, so its stream is ended by the test.
  toolStream(all)?.socket.once('close', () => {});
  setTimeout(
    () => toolStream(all)?.finish({ status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '137' }] } }),
    50,
  );
  expect(await pending).toMatchObject({ stdout: 'xxxxxxxxxx', flooded: true });
  expect((await running.exited).signal).toBe('SIGKILL');
});

test('a stream that ends together with its beginning is heard', async () => {
  const all = await open(() => {});
  all.cluster.behaviour.newPod = () =>
    scriptedPod((_command, events) => {
      events.output(2, Buffer.from('at once'));
      events.exit(3);
      return undefined;
    });
  const running = await all.driver.start(specOf());
  expect(await text(running.stderr)).toBe('at once');
  expect(await running.exited).toMatchObject({ notStarted: true, code: 3 });
});
