import { join } from 'node:path';
import type { Load, Target } from '../load/target.ts';
import { startProgram } from '../processes/server-process.ts';
import { OURS, type OurListening, type OurQuestion, TOOL } from './our-names.ts';
import {
  type Contestant,
  ECHO_ARGUMENTS,
  ECHO_EXPECTED,
  echoCall,
  type RunningServer,
  type RunOwn,
} from './subject.ts';

/** The layer with each of its HTTP doors before each kind of tool. */
export const OUR_CONTESTANT: Contestant = { names: Object.values(OURS), start: startOurs };

async function startOurs(folder: string): Promise<RunningServer> {
  const script = join(import.meta.dirname, 'our-server.ts');
  const server = startProgram({ script, args: [join(folder, 'layer')], folder });
  try {
    const { url, token } = (await server.ready) as OurListening;
    const port = Number(new URL(url).port);
    const ask = (question: OurQuestion) => server.ask(question) as Promise<Load>;
    const alone: RunOwn = (callers, span) => ask({ asks: 'calls', callers, span });
    return { process: server, targets: targetsOf(port, token), own: { [OURS.alone]: alone } };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

function targetsOf(port: number, token: string): Record<string, Target> {
  const headers = { authorization: `Bearer ${token}` };
  const overMcp = (tool: string): Target => ({
    port,
    path: '/mcp',
    conversation: 'mcp',
    headers,
    request: echoCall(tool),
    expected: ECHO_EXPECTED,
  });
  const overRest = (tool: string): Target => ({
    port,
    path: '/v1/invocations',
    conversation: 'json',
    headers,
    request: JSON.stringify({ tool_id: tool, parameters: ECHO_ARGUMENTS }),
    expected: ECHO_EXPECTED,
  });
  return {
    [OURS.mcp]: overMcp(TOOL.upstream),
    [OURS.rest]: overRest(TOOL.upstream),
    [OURS.mcpPure]: overMcp(TOOL.pure),
    [OURS.restPure]: overRest(TOOL.pure),
    [OURS.mcpNative]: overMcp(TOOL.native),
    [OURS.restNative]: overRest(TOOL.native),
  };
}
