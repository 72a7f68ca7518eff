import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDatabaseServer,
  type DatabaseServer,
} from '../../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import { urlOf } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import type { CountingOrder } from './counting-layer.ts';

const PROGRAM = fileURLToPath(new URL('counting-layer.ts', import.meta.url));
const STEPS = 200;
/** Kills of each tool; more with SALLYPORT_KILLS. */
const KILLS = { function: 2, shell: 1, mcp: 1 } as const;

let folder: string;
let server: DatabaseServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'killed-work-'));
  server = await createDatabaseServer(folder);
  await server.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs one process until it ends, or until it has made so many steps: then it is killed. */
async function run(order: Omit<CountingOrder, 'settings'>, killAfterSteps: number) {
  const settings = {
    data_folder: join(folder, `layer-${order.kind}`),
    'database.url': urlOf(server.connection),
    'search.embedder': 'none' as const,
  };
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...order, settings })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let [done, continuesAt] = [0, 0];
  let answer: { status?: string; result?: unknown; error?: unknown } | undefined;
  if (child.stdout === null) throw new Error('there is no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [word = '', value = ''] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
    if (word === 'answer') answer = JSON.parse(value) as typeof answer;
    if (word === 'continues') continuesAt = Number(value);
    if (word === 'continues' || word === 'done') done = Number(value);
    if (done - continuesAt >= killAfterSteps) child.kill('SIGKILL');
  }
  await ended;
  return { done, continuesAt, answer };
}

/** The steps that are in the result. */
function stepsOf(kind: CountingOrder['kind'], result: unknown): unknown {
  if (kind !== 'mcp') return result;
  const [block] = (result as { content: { text: string }[] }).content;
  return (JSON.parse(block?.text ?? '') as { done: unknown }).done;
}

test.each(['function', 'shell', 'mcp'] as const)(
  `STA-02.1 STA-02.2 STA-01.5 a tool of ${STEPS} steps that is killed finishes with every step done once: %s`,
  async (kind) => {
    const kills = Number(process.env['SALLYPORT_KILLS'] ?? KILLS[kind]);
    let after: string | undefined;
    let last: Awaited<ReturnType<typeof run>> | undefined;
    for (let kill = 0; kill <= kills; kill += 1) {
      const invocationId = `${kind}-${kill}`;
      const most = Math.max(1, Math.min(Math.floor((2 * STEPS) / (kills + 1)), STEPS - (last?.done ?? 0) - 1));
      const killAfter = kill === kills ? Number.POSITIVE_INFINITY : 1 + Math.floor(Math.random() * most);
      const next = await run(
        { kind, steps: STEPS, invocationId, ...(after === undefined ? {} : { after }) },
        killAfter,
      );
      // What the killed process reported was stored; it may have stored a step more before it died.
      expect(next.continuesAt).toBeGreaterThanOrEqual(last?.done ?? 0);
      last = next;
      after = invocationId;
      if (last.answer !== undefined) break;
    }
    expect(last?.answer).toMatchObject({ status: 'success' });
    expect(stepsOf(kind, last?.answer?.result)).toEqual(Array.from({ length: STEPS }, (_, step) => step));
  },
  600_000,
);
