import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, describe, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../packages/sallyport/api/schemas/upstream.ts';
import {
  type Fixture,
  failureOf,
  fixture,
  odd,
  processesWith,
  TENANT,
  textOf,
  until,
} from '../../packages/sallyport/src/mcp-servers/test-servers/upstreams.fixture.ts';
import type { UpstreamSettings } from '../../packages/sallyport/src/mcp-servers/upstreams.ts';

const SOUND = Array.from({ length: 15 }, (_, at) => `sound-${at}`);
/** Upstreams that fail, each in its own way, and the codes with which calls to them may end. */
const BROKEN: readonly { readonly name: string; readonly mode: string; readonly codes: readonly string[] }[] = [
  { name: 'dies-at-once', mode: 'exit', codes: ['E3310'] },
  { name: 'dies-at-handshake', mode: 'exit-at-initialize', codes: ['E3310'] },
  { name: 'dies-in-calls', mode: 'crash-on-call', codes: ['E3103', 'E3107', 'E3310'] },
  { name: 'hangs', mode: 'hang', codes: ['E3103', 'E3107', 'E3310'] },
  { name: 'floods', mode: 'message-flood', codes: ['E3107', 'E3310', 'E3103'] },
  { name: 'answers-others', mode: 'wrong-ids', codes: ['E3103', 'E3107', 'E3310'] },
];
const CALLS_EACH_MIN = 30;
const CALL_TIMEOUT_MS = 20_000;
/** A sandboxed server consists of its launcher, its first process and the server itself. */
const PROCESSES_EACH_MAX = 4;
const SETTINGS: Partial<UpstreamSettings> = { firstBackoffMs: 50, maxBackoffMs: 2_000, pingTimeoutMs: 500 };

const driver = createBubblewrapDriver();
const probe = await driver.probe();
const open: Fixture[] = [];
const folders: string[] = [];

function start(definitions: readonly UpstreamDefinition[]): Fixture['upstreams'] {
  const made = fixture(driver, { settings: SETTINGS });
  open.push(made);
  for (const definition of definitions) made.stored.set(definition.name, { tenantId: TENANT, definition });
  return made.upstreams;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ upstreams }) => upstreams.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  expect(processesWith('odd-server.mjs')).toEqual([]);
});

describe.skipIf(!probe.works)(`upstreams that misbehave${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
  test('EXE-11.1 EXE-11.3 three that crash in loops, one that hangs, one that floods and one that answers others cost fifteen others nothing', async () => {
    const upstreams = start([
      ...SOUND.map((name) => ({ ...odd('good'), name })),
      ...BROKEN.map(({ name, mode }) => ({ ...odd(mode), name })),
    ]);
    await upstreams.start();
    const finished = new AbortController();
    const provoked = BROKEN.map(({ name }) => provoke(upstreams, name, finished.signal));
    const processes = countProcesses(finished.signal);
    const said = await Promise.all(SOUND.map((name) => converse(upstreams, name)));
    finished.abort();

    for (const [index, texts] of said.entries()) {
      expect(texts).toEqual(Array.from(texts, (_, at) => `${SOUND[index]} says ${at}`));
      expect(texts.length).toBeGreaterThanOrEqual(CALLS_EACH_MIN);
    }
    for (const [at, codes] of (await Promise.all(provoked)).entries()) {
      const broken = BROKEN[at];
      expect(codes.size, `${broken?.name} was called`).toBeGreaterThan(0);
      for (const code of codes) expect(broken?.codes, `${broken?.name}: ${code}`).toContain(code);
    }
    for (const status of upstreams.statuses(TENANT)) {
      if (SOUND.includes(status.name)) expect(status).toMatchObject({ state: 'ready', restart_count: 0 });
    }
    expect(await processes).toBeLessThanOrEqual((SOUND.length + BROKEN.length) * PROCESSES_EACH_MAX);
  }, 120_000);

  test('EXE-11.2 one that crashes in a loop comes back by itself once its cause is gone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'upstream-'));
    folders.push(folder);
    const file = join(folder, 'configuration');
    const definition = odd('exit-without-file', { env: { FILE: file }, mounts: [{ path: folder, mode: 'ro' }] });
    const upstreams = start([definition]);
    await upstreams.start();
    await until(() => upstreams.statuses(TENANT)[0]?.last_error?.includes('exited with code 5') === true);
    expect((await failureOf(upstreams.call(TENANT, definition.name, 'echo', {}, { timeoutMs: 1 }))).code).toBe('E3310');
    writeFileSync(file, '');
    await until(() => upstreams.statuses(TENANT)[0]?.state === 'ready');
    const options = { timeoutMs: CALL_TIMEOUT_MS };
    expect(textOf(await upstreams.call(TENANT, definition.name, 'echo', { message: 'back' }, options))).toBe('back');
  }, 60_000);

  test('EXE-11.3 forty starts of one that dies leave no process behind', async () => {
    const upstreams = start([]);
    const lanes = Array.from({ length: 2 }, async () => {
      for (let round = 0; round < 20; round += 1) {
        const name = `dies-${Math.random().toString(36).slice(2)}`;
        expect((await failureOf(upstreams.add(TENANT, { ...odd('exit'), name }))).code).toBe('E3108');
      }
    });
    await Promise.all(lanes);
    expect(processesWith('odd-server.mjs')).toEqual([]);
    expect(upstreams.statuses(TENANT)).toEqual([]);
  }, 120_000);
});

/** Calls the healthy upstream again and again; returns its answers. */
async function converse(upstreams: Fixture['upstreams'], name: string): Promise<readonly string[]> {
  const said: string[] = [];
  // Until each of the failing upstreams has failed.
  for (let at = 0; at < CALLS_EACH_MIN || !allFailed(upstreams); at += 1) {
    const message = `${name} says ${at}`;
    said.push(textOf(await upstreams.call(TENANT, name, 'echo', { message }, { timeoutMs: CALL_TIMEOUT_MS })));
  }
  return said;
}

function allFailed(upstreams: Fixture['upstreams']): boolean {
  const faults = upstreams.statuses(TENANT).filter(({ last_error }) => last_error !== undefined);
  // One of them only sends answers to requests that nobody made, which is not recorded as an error of the connection.
  return faults.length >= BROKEN.length - 1;
}

/** Calls a failing upstream until the test is done; every call has to end, and the codes are returned. */
async function provoke(upstreams: Fixture['upstreams'], name: string, done: AbortSignal): Promise<ReadonlySet<string>> {
  const codes = new Set<string>();
  do {
    const call = upstreams.call(TENANT, name, 'x', {}, { timeoutMs: 700 });
    const code = await call.then(() => 'answered', failureCode);
    if (code !== 'answered') codes.add(code);
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (!done.aborted || codes.size === 0);
  return codes;
}

function failureCode(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : String(thrown);
}

/** The largest number of server processes that were seen at one time. */
async function countProcesses(done: AbortSignal): Promise<number> {
  let most = 0;
  while (!done.aborted) {
    most = Math.max(most, processesWith('odd-server.mjs').length);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return most;
}
