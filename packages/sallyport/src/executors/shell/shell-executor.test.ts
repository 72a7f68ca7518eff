import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEgressGate } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { executorConformance } from '../conformance/executor.conformance.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { shellExecutor } from '../programs/program-executors.fixture.ts';

const driver = createBubblewrapDriver();
const executor = shellExecutor(driver);
const { works, problem } = await driver.probe();
const never = new AbortController().signal;
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'shell-executor-')));
afterAll(() => rmSync(folder, { recursive: true }));

type More = Parameters<typeof callOf>[2];

function shellCall(
  config: Record<string, unknown>,
  parameters: Record<string, unknown> = {},
  more: More = {},
): ExecutorCall {
  return callOf({ executor: { kind: 'shell', config }, idempotent: true }, parameters, more);
}

const sh = (script: string, ...args: string[]): string[] => ['sh', '-c', script, 'sh', ...args];
/** Runs a call as approved: these tests do not concern approvals. */
const run = async (call: ExecutorCall, signal = never): Promise<unknown> =>
  (await executor.executeConfirmed(call, signal)).result;

function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

let marks = 0;
function newMark(): string {
  marks += 1;
  return `shell-mark-${process.pid}-${marks}`;
}

describe.skipIf(!works)(`shell${works ? '' : `, skipped: ${problem}`}`, () => {
  executorConformance(test, 'shell', async () => {
    const mark = newMark();
    return {
      executor,
      works: () => ({
        call: shellCall({ command: ['echo', '{a}'], output: 'text' }, { a: 'hello' }),
        result: 'hello\n',
      }),
      asks: () => ({ call: shellCall({ command: sh('eval "echo $1"', 'hello'), output: 'text' }), result: 'hello\n' }),
      fails: () => shellCall({ command: ['false'] }),
      hangs: () => ({
        call: shellCall({ command: sh('trap "" TERM; while :; do sleep 1; done', mark) }),
        running: () => until(() => processesWith(mark).length > 0),
      }),
      faulty: () => shellCall({ command: ['sh', '-c', '{a}'] }).tool.manifest,
      leftovers: () => processesWith(mark).length,
      async close() {},
    };
  });

  test('PIPE-06 EXE-03 a command whose call ended while its files were secured does not begin', async () => {
    const ending = new AbortController();
    const reason = new ToolLayerError('E3103', 'It is over.');
    const begin = async (): Promise<undefined> => {
      ending.abort(reason);
    };
    const start = vi.fn<typeof driver.start>();
    const call = shellCall({ command: ['true'] });
    await expect(shellExecutor({ ...driver, start }, { begin }).executeConfirmed(call, ending.signal)).rejects.toBe(
      reason,
    );
    expect(start).not.toHaveBeenCalled();
  });

  test('PIPE-06.4 an abort ends the whole tree with SIGTERM, then SIGKILL, and the call ends with its reason', async () => {
    const mark = newMark();
    const script =
      'setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1" & trap "echo x >>$2/term" TERM; : >"$2/ready"; while :; do sleep 0.05; done';
    const filesystem = [{ path: folder, mode: 'rw' as const }];
    const { grant } = shellCall({ command: ['x'] });
    const call = shellCall({ command: sh(script, mark, folder) }, {}, { grant: { ...grant, filesystem } });
    const controller = new AbortController();
    const reason = new ToolLayerError('E3805', 'The call was cancelled.');
    const ended = expect(executor.executeConfirmed(call, controller.signal)).rejects.toBe(reason);
    await until(() => existsSync(join(folder, 'ready')));
    controller.abort(reason);
    await ended;
    expect(processesWith(mark)).toEqual([]);
    expect(readFileSync(join(folder, 'term'), 'utf8')).toBe('x\n');
  });

  test('EXE-02.4 the default output is the envelope, with the exit code and what was cut', async () => {
    expect(await run(shellCall({ command: sh('echo out; echo err >&2; exit 3'), success_exit_codes: [3] }))).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      truncated: false,
    });
    const { grant } = shellCall({ command: ['x'] });
    const small = { ...grant, limits: { ...grant.limits, outputBytesMax: 100 } };
    expect(await run(shellCall({ command: sh('seq 1000') }, {}, { grant: small }))).toMatchObject({
      stdout: expect.stringMatching(/^1\n2\n/),
      truncated: true,
    });
  });

  test('text is stdout, json its value', async () => {
    expect(await run(shellCall({ command: ['echo', '{a}'], output: 'text' }, { a: '€ "x"' }))).toBe('€ "x"\n');
    expect(await run(shellCall({ command: ['cat'], stdin: 'json', output: 'json' }, { a: [1, { b: null }] }))).toEqual({
      a: [1, { b: null }],
    });
    await expect(run(shellCall({ command: ['echo', 'x'], output: 'json' }))).rejects.toMatchObject({ code: 'E3501' });
  });

  test('stdin takes one parameter as it is, or nothing', async () => {
    const config = { command: ['cat'], stdin: '{a}', output: 'text' };
    expect(await run(shellCall(config, { a: 'x\0y\n' }))).toBe('x\0y\n');
    expect(await run(shellCall(config, { a: 12 }))).toBe('12');
    expect(await run(shellCall(config, {}))).toBe('');
    expect(await run(shellCall({ command: ['cat'], output: 'text' }, { a: 'x' }))).toBe('');
  });

  test('a parameter is never more than one argument', async () => {
    const hostile = '$(id); `id` | id > /tmp/x & "\'\\\n';
    const call = shellCall({ command: sh('printf "%s" "$#:$1"', '{a}'), output: 'text' }, { a: hostile });
    expect(await run(call)).toBe(`1:${hostile}`);
  });

  test.each<[string, string, string[]]>([
    ['exit code 126', 'E3210', sh('exit 126')],
    ['exit code 127', 'E3108', sh('exit 127')],
    ['a program that is not there', 'E3108', ['no-such-program']],
    ['any other exit code', 'E3108', sh('exit 1')],
    ['a signal', 'E3108', sh('kill -9 $$')],
    ['a file that is not there', 'E3108', ['cat', '/nowhere']],
    ['a folder that may not be written', 'E3108', ['mkdir', '/x']],
  ])('%s ends the call with %s and the envelope', async (_, code, command) => {
    await expect(run(shellCall({ command }))).rejects.toMatchObject({
      code,
      failure: { details: { envelope: { exit_code: expect.any(Number), truncated: false } } },
    });
  });

  test('the message says which access failed', async () => {
    await expect(run(shellCall({ command: ['cat', '/nowhere'] }))).rejects.toThrow(/no such file/);
    await expect(run(shellCall({ command: sh('echo Permission denied >&2; exit 1') }))).rejects.toThrow(
      /permission denied/,
    );
  });

  test('a limit that ended the tool is named', async () => {
    const bomb = ['perl', '-e', 'my @m; push @m, "x" x 1e6 while 1'];
    const { grant } = shellCall({ command: bomb });
    const small = { ...grant, limits: { ...grant.limits, memoryMb: 32 } };
    await expect(run(shellCall({ command: bomb }, {}, { grant: small }))).rejects.toMatchObject({
      code: 'E3102',
      failure: { details: { limit: 'memory' } },
    });
    await expect(run(shellCall({ command: sh('exec head -c 100000000 /dev/zero >/tmp/x') }))).rejects.toMatchObject({
      code: 'E3102',
      failure: { details: { limit: 'disk' } },
    });
    await expect(run(shellCall({ command: ['yes'] }))).rejects.toMatchObject({
      code: 'E3102',
      failure: { details: { limit: 'output' } },
    });
  });

  test('secrets are variables under their names and are hidden in what the tool writes', async () => {
    const secrets = new Map([['API_KEY', 'hunter2-hunter2']]);
    const config = {
      command: sh('echo "$MODE $API_KEY"; env | grep -c .'),
      environment: { MODE: 'on' },
      output: 'text',
    };
    // The four variables are MODE, API_KEY, PATH and PWD.
    expect(await run(shellCall(config, {}, { secrets }))).toBe('on [hidden]\n4\n');
  });

  test('PRM-03.2 the grant decides which folders are there, and the working directory lies in one', async () => {
    writeFileSync(join(folder, 'note'), 'text');
    const { grant } = shellCall({ command: ['x'] });
    const granted = { grant: { ...grant, filesystem: [{ path: folder, mode: 'ro' as const }] } };
    const config = { command: ['cat', 'note'], working_directory: folder, output: 'text' };
    expect(await run(shellCall(config, {}, granted))).toBe('text');
    await expect(run(shellCall(config))).rejects.toMatchObject({ code: 'E3105' });
    await expect(run(shellCall({ ...config, working_directory: `${folder}x` }, {}, granted))).rejects.toMatchObject({
      code: 'E3105',
    });
    const missing = { grant: { ...grant, filesystem: [{ path: join(folder, 'missing'), mode: 'ro' as const }] } };
    await expect(run(shellCall({ command: ['true'] }, {}, missing))).rejects.toMatchObject({ code: 'E3105' });
    const inTmp = { command: sh('mkdir x && cd x && pwd'), working_directory: '/tmp', output: 'text' };
    expect(await run(shellCall(inTmp))).toBe('/tmp/x\n');
  });

  test('a sandbox that cannot be set up is E3101, since the tool never ran', async () => {
    const { grant } = shellCall({ command: ['x'] });
    const filesystem = [{ path: folder, mode: 'ro' as const }];
    const config = { command: ['true'], working_directory: join(folder, 'missing') };
    const call = shellCall(config, {}, { grant: { ...grant, filesystem } });
    await expect(run(call)).rejects.toMatchObject({ code: 'E3101' });
  });

  test('network is refused while the driver cannot grant it', async () => {
    const { grant } = shellCall({ command: ['x'] });
    const network = [{ host: 'example.org', port: 443 }];
    await expect(run(shellCall({ command: ['true'] }, {}, { grant: { ...grant, network } }))).rejects.toMatchObject({
      code: 'E3104',
    });
  });

  test('SBX-04.1 SBX-04.4 SBX-07.2 a granted host is reached under its name, and the bytes come back with the result', async () => {
    const server = createServer((socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gate = createEgressGate({ policy: { allowPrivate: true }, resolver: async () => ['127.0.0.1'] });
    const { executeConfirmed } = shellExecutor(createBubblewrapDriver({}, gate));
    const { grant } = shellCall({ command: ['x'] });
    const network = [{ host: 'granted.test', port }];
    const client = `use IO::Socket; print IO::Socket::INET->new("granted.test:${port}")->getline`;
    const config = { command: ['perl', '-e', client], output: 'text' };
    const given = shellCall(config, {}, { grant: { ...grant, network } });
    const { result, usage } = await executeConfirmed(given, never);
    expect(result).toBe('hello');
    expect([usage.networkBytesSent, usage.networkBytesReceived]).toEqual([0, 5]);
    server.close();
  });

  test('what the tool used comes back with the result', async () => {
    const { usage } = await executor.executeConfirmed(
      shellCall({ command: ['perl', '-e', '$i++ while $i < 2e6'] }),
      never,
    );
    expect(usage.cpuMillicoreSeconds).toBeGreaterThan(1);
    expect(usage.memoryPeakMb).toBeGreaterThan(0.1);
  });
});
