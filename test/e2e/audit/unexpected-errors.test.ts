import { rm } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type Server,
  serve,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, double, post } from '../layer.fixture.ts';

const MAIL = 'ann.lee@example.org';
const WORDS = 'the shelf of';

let folder: string;
let layer: EmbeddedToolLayer;
let server: Server;
let token: string;
/** The lines of the log. */
const lines: { readonly level: string; readonly event: string; readonly fields: Record<string, unknown> }[] = [];
let stageThatFails: string | undefined;

const unexpected = (): TypeError =>
  new TypeError(`${WORDS} ${MAIL} is undefined`, { cause: new RangeError('a number out of range') });

const lineOf =
  (level: string) =>
  (event: string, fields: Record<string, unknown> = {}) =>
    void lines.push({ level, event, fields });
const log = { debug: lineOf('debug'), info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };

beforeAll(async () => {
  folder = await temporaryDataFolder('sallyport-unexpected-');
  layer = await createToolLayer({
    settings: { data_folder: folder },
    log,
    environment: {},
    onStage: (stage) => {
      if (stage === stageThatFails) throw unexpected();
    },
  });
  server = await serve(layer, { port: 0 });
  ({ capability_token: token } = await layer.mintToken({}));
  await layer.registerFunction(DOUBLE, double);
  await layer.registerFunction({ ...DOUBLE, tool_id: 'throws' }, () => {
    throw unexpected();
  });
});
afterAll(async () => {
  await server.close();
  await layer.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  lines.length = 0;
  stageThatFails = undefined;
});

const overRest = async (tool_id: string) =>
  (await post({ server, token }, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n: 1 } }))).body;

async function overMcp(tool_id: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  try {
    return await client
      .callTool({ name: tool_id, arguments: { n: 1 } })
      .catch((error: object) => ({ ...error, text: String(error) }));
  } finally {
    await client.close();
  }
}

/** Everything that an agent and a reader of the record see of these calls. */
async function shown(answers: readonly unknown[]): Promise<string> {
  const { events } = await layer.ask('audit.query', { limit: 1000 }, LOCAL_CALLER);
  return JSON.stringify([answers, events]);
}

function expectKept(event: string, level: string, invocationId: unknown): void {
  const line = lines.find(({ fields }) => fields['invocation_id'] === invocationId && fields['cause'] !== undefined);
  expect(line).toMatchObject({ event, level, fields: { cause: { name: 'TypeError', cause: { name: 'RangeError' } } } });
  const cause = line?.fields['cause'] as { message: string; stack: string; cause: { stack: string } };
  expect(cause.message).toBe(`${WORDS} [REDACTED:email] is undefined`);
  for (const { stack } of [cause, cause.cause]) expect(stack).toMatch(/unexpected-errors\.test\.ts(?:\?\S+)?:\d+/);
  expect(JSON.stringify(lines)).not.toContain(MAIL);
}

test('PIPE-04.6 PIPE-04.7 an exception of a function is in the log with its stack, its cause and the id of the call, and in no answer', async () => {
  const answer = await overRest('throws');
  const answers = [answer, await overMcp('throws')];
  expect(answer).toMatchObject({ error: { e_code: 'E3109' } });
  expectKept('tool-threw', 'warn', answer['invocation_id']);
  expect(lines.filter(({ event }) => event === 'tool-threw')).toHaveLength(2);
  for (const secret of [WORDS, MAIL, 'RangeError', '.ts:']) expect(await shown(answers)).not.toContain(secret);
});

test('PIPE-04.6 PIPE-04.7 an exception of the layer itself likewise, before and after the tool ran', async () => {
  for (const stage of ['validate', 'execute']) {
    stageThatFails = stage;
    const answer = await overRest('double');
    const answers = [answer, await overMcp('double')];
    stageThatFails = undefined;
    expect(answer).toMatchObject({
      error: { e_code: 'E3900', message: expect.stringContaining('The operator finds') },
    });
    expectKept('call-failed', 'error', answer['invocation_id']);
    for (const secret of [WORDS, MAIL, 'RangeError', '.ts:']) expect(await shown(answers)).not.toContain(secret);
  }
});
