import type { SandboxExit } from '@sallyport/sandbox';
import { ERRORS } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { outcomeOf } from './shell-outcome.ts';
import { planOf } from './shell-plan.ts';

const limits = { cpuMillicores: 500, memoryMb: 32, processesMax: 8, diskMb: 16, cpuSecondsMax: 3 };

function outcome(exit: Partial<SandboxExit>, stderr = '', config: Record<string, unknown> = {}): unknown {
  const plan = planOf(callOf({ executor: { kind: 'shell', config: { command: ['x'], ...config } } }).tool.manifest);
  const output = { stdout: '', stderr, truncated: false, flooded: false };
  return outcomeOf(plan, { exit: { cpuMs: 1, memoryPeakMb: 1, ...exit }, output, limits }).result;
}

function failure(...args: Parameters<typeof outcome>): ToolLayerError {
  try {
    outcome(...args);
  } catch (error) {
    if (error instanceof ToolLayerError) return error;
  }
  throw new Error('it did not fail');
}

test('VAL-03.5 JSON names the whole numbers that were rounded', () => {
  const plan = planOf(
    callOf({ executor: { kind: 'shell', config: { command: ['x'], output: 'json' } } }).tool.manifest,
  );
  const of = (stdout: string) =>
    outcomeOf(plan, {
      exit: { cpuMs: 1, memoryPeakMb: 1, code: 0 },
      output: { stdout, stderr: '', truncated: false, flooded: false },
      limits,
    });
  expect(of('{"id":9007199254740993}')).toMatchObject({ result: { id: 9007199254740992 }, rounded: ['/id'] });
  expect(of('{"id":9007199254740992}')).not.toHaveProperty('rounded');
});

test.each<[what: string, exit: Partial<SandboxExit>, stderr: string, code: keyof typeof ERRORS, category: string]>([
  ['exit code 126', { code: 126 }, '', 'E3210', 'PolicyBlocked'],
  ['exit code 127', { code: 127 }, '', 'E3108', 'PermanentFailure'],
  ['permission denied', { code: 1 }, 'sh: x: Permission denied', 'E3108', 'PermanentFailure'],
  ['no such file', { code: 1 }, 'cat: x: NO SUCH FILE or directory', 'E3108', 'PermanentFailure'],
])('EXE-02.5 EXE-02.6 %s is never tried again', (_, exit, stderr, code, category) => {
  expect(failure(exit, stderr)).toMatchObject({ code });
  expect(ERRORS[code]).toMatchObject({ category, retryable: false });
});

test('PIPE-13 a sandbox that was lost says that the tool may have acted', () => {
  expect(failure({ lost: true }).failure).toMatchObject({ code: 'E3107', details: { reached: true } });
});

test('EXE-02.5 exit code 126 is blocked by a policy on the wire', () => {
  expect(ERRORS[failure({ code: 126 }).code].wire).toBe('policy_blocked');
});

test.each<[limit: string, exit: Partial<SandboxExit>, words: string]>([
  ['memory', { signal: 'SIGKILL', violation: 'memory' }, '32 MB of memory'],
  ['processes', { code: 2, violation: 'processes' }, '8 processes'],
  ['disk', { signal: 'SIGXFSZ', violation: 'disk' }, '16 MB'],
  ['cpu', { signal: 'SIGXCPU', violation: 'cpu' }, '3 s'],
])('SBX-03.6 a tool that was stopped at its limit of %s is told so, with the limit', (limit, exit, words) => {
  expect(failure(exit)).toMatchObject({ code: 'E3102', failure: { details: { limit } } });
  expect(failure(exit).message).toContain(words);
});

test('SBX-03 a full disk is the limit of disk, where the tool says so and fails', () => {
  const full = 'write /tmp/x: No space left on device';
  expect(failure({ code: 1 }, full)).toMatchObject({ code: 'E3102', failure: { details: { limit: 'disk' } } });
  expect(failure({ code: 1 }, 'Error: ENOSPC: no space')).toMatchObject({ code: 'E3102' });
  expect(outcome({ code: 0 }, full)).toMatchObject({ exit_code: 0 });
});

const network = (...refusals: { host?: string; why: string }[]): Pick<SandboxExit, 'network'> => ({
  network: {
    bytesSent: 0,
    bytesReceived: 0,
    connections: refusals.length,
    refused: refusals.length,
    refusals: refusals.map(({ host, why }) => ({ target: host === undefined ? undefined : { host, port: 443 }, why })),
  },
});
const denied = { host: 'a.test', why: 'a.test:443 is not among the addresses that are granted' };

test('SBX-04 a tool that fails after an address was refused is told which, and what to change', () => {
  const error = failure({ code: 7, ...network(denied, denied) });
  expect(error).toMatchObject({
    code: 'E3104',
    failure: { details: { refused: [{ address: 'a.test:443' }, {}], envelope: { exit_code: 7 } } },
  });
  expect(error.message).toMatch(/a\.test:443 .*permissions\.network/);
  expect(error.message.split('a.test').length).toBe(2);
});

test('a tool that gets by without the address has succeeded', () => {
  expect(outcome({ code: 0, ...network(denied) })).toMatchObject({ exit_code: 0 });
});

test('an allowed server that did not answer is no refusal', () => {
  const away = { host: 'a.test', why: 'a.test:443 could not be reached (ECONNREFUSED)' };
  const error = failure({ code: 7, ...network(away) });
  expect(error.code).toBe('E3108');
  expect(error.message).toContain('could not be reached');
});
