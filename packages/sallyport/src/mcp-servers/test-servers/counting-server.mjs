// A small MCP server over stdio whose tool counts in steps and saves checkpoints. Only for tests.
import { createInterface } from 'node:readline';

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const tool = (name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function save({ params }, checkpoint, progress) {
  const { progressToken } = params._meta;
  const _meta = { 'sallyport/checkpoint': checkpoint };
  write({ method: 'notifications/progress', params: { progressToken, progress, _meta } });
}

const tools = {
  /** Counts from where it was to `steps`; fails at `stop_at`; waits `pause_ms` after each step. */
  async count(request) {
    const { id, params } = request;
    const { steps, stop_at, pause_ms = 0 } = params.arguments;
    const offered = params._meta?.['sallyport/checkpoints'];
    const { done } = offered?.restored?.state ?? { done: [] };
    const from = done.length;
    while (done.length < steps) {
      done.push(done.length);
      if (offered !== undefined) save(request, { state: { done } }, done.length);
      if (done.length === stop_at) return write({ id, error: { code: -32603, message: 'stopped' } });
      await pause(pause_ms);
    }
    write({ id, result: text({ from, done }) });
  },
  /** Sends what it is given as checkpoints, and says what it was offered. */
  async send(request) {
    const { id, params } = request;
    for (const [at, checkpoint] of params.arguments.checkpoints.entries()) save(request, checkpoint, at);
    write({ id, result: text({ meta: params._meta ?? {} }) });
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  const { id, method, params = {} } = request;
  if (id === undefined) return;
  if (method === 'initialize')
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'counting', version: '1.0.0' },
      },
    });
  else if (method === 'tools/list') write({ id, result: { tools: Object.keys(tools).map(tool) } });
  else if (method === 'tools/call') tools[params.name](request);
  else if (method === 'ping') write({ id, result: {} });
  else write({ id, error: { code: -32601, message: 'Method not found' } });
});
