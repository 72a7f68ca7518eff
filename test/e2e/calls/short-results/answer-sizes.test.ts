import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DOUBLE, type OpenLayer, openLayer } from '../../layer.fixture.ts';

const BYTES_MAX = 20_000;
/** Bytes allowed for what surrounds a result: ids, times, the warning and the protocol's members. */
const ENVELOPE_BYTES = 2_000;
const UNITS: readonly (readonly [string, string])[] = [
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['U+0000', '\u0000'],
  ['line feeds', '\n'],
  ['three bytes each', '漢'],
];

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  const { result_schema: _, ...about } = DOUBLE;
  const sized = { ...about, execution_config: { output_bytes_max: BYTES_MAX } };
  const unit = (n: unknown): string => UNITS[Number(n)]?.[1] ?? '';
  // Within the bound when counted in characters, above it once the characters are escaped.
  const text = (n: unknown): string => unit(n).repeat(BYTES_MAX - 100);
  await open.layer.registerFunction({ ...sized, tool_id: 'text' }, ({ n }) => text(n));
  await open.layer.registerFunction({ ...sized, tool_id: 'object' }, ({ n }) => ({ text: text(n) }));
});
afterAll(() => open[Symbol.asyncDispose]());

test.each(UNITS.flatMap(([name], n) => ['text', 'object'].map((tool) => [tool, name, n] as const)))(
  'PIPE-02 MOD-10.1 MOD-10.2 an answer of %s of %s is no longer than the bound over any door, and says that it was cut',
  async (tool, _name, n) => {
    const request = { tool_id: tool, parameters: { n } };
    const headers = { authorization: `Bearer ${open.token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(request) };
    const rest = await (await fetch(`${open.server.url}/v1/invocations`, init)).text();
    const answers = [rest, await overMcp(tool, n)];
    for (const answer of answers) {
      expect(answer).toContain('result_cut');
      expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(BYTES_MAX + ENVELOPE_BYTES);
    }
    const { result } = JSON.parse(rest) as { result: { truncated: boolean; preview: string } };
    expect(result.truncated).toBe(true);
    expect(result.preview.length).toBeGreaterThan(BYTES_MAX / 10);
  },
);

/** The answer as text, as it is sent over MCP. */
async function overMcp(tool: string, n: number): Promise<string> {
  let last = '';
  const client = new Client({ name: 'sizes', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${open.token}` } },
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      if (!String(init?.body).includes('"tools/call"')) return answer;
      last = await answer.text();
      return new Response(last, answer);
    },
  });
  await client.connect(transport);
  await client.callTool({ name: tool, arguments: { n } });
  await client.close();
  return last;
}
