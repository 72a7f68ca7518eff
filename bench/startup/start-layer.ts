import { join } from 'node:path';
import { jsonCaller } from '../load/callers/json-caller.ts';
import { openConnection } from '../load/http-connection.ts';
import { CALL_NUMBER } from '../load/target.ts';
import { freePort } from '../processes/free-port.ts';
import { type ServerProcess, startProgram } from '../processes/server-process.ts';
import { untilItWorks } from '../processes/until-it-works.ts';

/** A started layer and how long that took, from the start of its process on. */
export interface Started {
  readonly process: ServerProcess;
  readonly ms: number;
}

const PROGRAMS = join(import.meta.dirname, '..', '..', 'packages', 'sallyport', 'bin');
/** The program that `npm start` runs. */
const STARTER = join(PROGRAMS, 'starter.mjs');
/** The program that `npm run sallyport` runs. */
const SALLYPORT = join(PROGRAMS, 'sallyport.mjs');

/**
 * Starts what `npm start` starts, npm itself apart, and makes its first call with what it prints.
 * @returns when the answer is there
 */
export async function startStarter(folder: string): Promise<Started> {
  const args = ['--port', '0', '--data-folder', dataFolder(folder)];
  const begin = performance.now();
  const server = startProgram({ script: STARTER, args, folder });
  return timed(server, begin, async () => {
    const { port, token } = await untilItWorks(server, () => printed(server.output()));
    const caller = await jsonCaller({
      port,
      path: '/v1/invocations',
      conversation: 'json',
      headers: { authorization: `Bearer ${token}` },
      request: `{"tool_id":"add","parameters":{"a":${CALL_NUMBER},"b":1}}`,
      expected: '"status":"success"',
    });
    await caller.call(1).finally(caller.close);
  });
}

/** Starts the layer alone. @returns when it says that it is healthy */
export async function startServe(folder: string): Promise<Started> {
  const port = await freePort();
  const args = ['serve', '--port', String(port), '--data-folder', dataFolder(folder)];
  const begin = performance.now();
  const server = startProgram({ script: SALLYPORT, args, folder });
  return timed(server, begin, () => untilItWorks(server, () => healthy(port)));
}

async function timed(server: ServerProcess, begin: number, ready: () => Promise<void>): Promise<Started> {
  try {
    await ready();
    return { process: server, ms: performance.now() - begin };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** What the starter prints for people: its address, and a token within the line to paste. */
function printed(output: string): { readonly port: number; readonly token: string } {
  // The last sentence of the output: all before it is there too.
  const complete = output.includes('Stop it with');
  const port = /ready at https?:\/\/[^\s/]+:(\d+)/.exec(output)?.[1];
  const token = /Bearer ([\w.-]+)/.exec(output)?.[1];
  if (!complete || port === undefined || token === undefined) throw new Error('it has not printed its address yet');
  return { port: Number(port), token };
}

async function healthy(port: number): Promise<void> {
  const connection = await openConnection(port);
  const { status } = await connection
    .exchange(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
    .finally(connection.close);
  if (status !== 200) throw new Error(`/healthz answers with ${status}`);
}

function dataFolder(folder: string): string {
  return join(folder, 'layer');
}
