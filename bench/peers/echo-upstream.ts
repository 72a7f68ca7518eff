// The trivial MCP server behind every proxy: newline-delimited JSON-RPC on stdio, one tool that answers with its argument.
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } };
}

const TOOL = {
  name: 'echo',
  description: 'Says the text.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'What to say.', maxLength: 1000 } },
    required: ['text'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

const ANSWERS: Readonly<Record<string, (params: Message['params']) => unknown>> = {
  initialize: (params) => ({
    protocolVersion: params?.protocolVersion ?? '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: params?.arguments?.text ?? '' }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined || method === undefined) return;
  const answer = ANSWERS[method];
  const end =
    answer === undefined ? { error: { code: -32601, message: 'no such method' } } : { result: answer(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...end })}\n`);
});
