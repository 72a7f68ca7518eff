import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSpec } from '@sallyport/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Grant } from '../../domain/invocation/grant.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { planOf, specOf } from './shell-plan.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'shell-plan-')));
  mkdirSync(join(folder, 'work'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function spec(grant: Partial<Grant>, config: Record<string, unknown> = {}): SandboxSpec {
  const call = callOf({ executor: { kind: 'shell', config: { command: ['x'], ...config } } });
  return specOf(planOf(call.tool.manifest), { ...call, grant: { ...call.grant, ...grant } });
}
const work = () => join(folder, 'work');
const rw = (path: string) => [{ path, mode: 'rw' as const }];

test('SBX-03 the limits of the grant are those of the sandbox', () => {
  const limits = { timeoutMs: 1500, cpuMillicores: 2000, memoryMb: 9, outputBytesMax: 1 };
  expect(spec({ limits }).limits).toEqual({
    cpuMillicores: 2000,
    memoryMb: 9,
    processesMax: 64,
    diskMb: 64,
    cpuSecondsMax: 4,
  });
  const more = { ...limits, processesMax: 3, diskMb: 5, networkBandwidthMbps: 0.5 };
  expect(spec({ limits: more }).limits).toMatchObject({ processesMax: 3, diskMb: 5, networkBandwidthMbps: 0.5 });
});

test('SBX-01 a granted folder that has become a link since is refused', () => {
  expect(spec({ filesystem: rw(work()) }).mounts).toEqual(rw(work()));
  rmSync(work(), { recursive: true });
  symlinkSync('/etc', work());
  expect(() => spec({ filesystem: rw(work()) })).toThrow(expect.objectContaining({ code: 'E3105' }));
  expect(spec({ filesystem: rw(work()), links: new Map([[work(), '/etc']]) }).mounts).toEqual(rw(work()));
  const elsewhere = { filesystem: rw(work()), links: new Map([[work(), '/usr']]) };
  expect(() => spec(elsewhere)).toThrow(expect.objectContaining({ code: 'E3105' }));
});

test('EXE-02.7 the working directory lies in the granted folders, by its name and by what it leads to', () => {
  const within = (working_directory: string): unknown =>
    spec({ filesystem: rw(work()) }, { working_directory }).workingDirectory;
  mkdirSync(join(work(), 'sub'));
  symlinkSync('sub', join(work(), 'near'));
  symlinkSync('..', join(work(), 'out'));
  for (const inside of [work(), join(work(), 'sub'), join(work(), 'near'), join(work(), 'not-yet'), '/tmp'])
    expect(within(inside)).toBe(inside);
  for (const outside of [folder, `${work()}x`, join(work(), 'out'), '/', '/etc'])
    expect(() => within(outside), outside).toThrow(expect.objectContaining({ code: 'E3105' }));
});
