import { callResultOf } from './call-result.ts';
import type { LinkCallOptions, UpstreamCallResult } from './link.ts';
import type { Multiplexer } from './multiplexer.ts';
import { requestWithInput } from './request-with-input.ts';

/**
 * Calls a tool; questions of the server are put to the client of the call.
 * @throws whatever `requestWithInput` throws; E3308 when the answer is no result
 */
export async function callTool(
  mux: Multiplexer,
  label: string,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  options: LinkCallOptions,
): Promise<UpstreamCallResult> {
  return callResultOf(
    await requestWithInput(mux, label, 'tools/call', { name: tool, arguments: args }, options),
    label,
  );
}
