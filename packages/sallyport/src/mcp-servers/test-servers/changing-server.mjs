// An MCP server whose tools can be changed while it runs, over stdio or streamable HTTP. Only for tests.
// usage: changing-server.mjs stdio|http FILE   FILE holds {"version": …, "tools": […]} and outlives the process
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [transport, file] = process.argv.slice(2);
const PAGE = 2;
const CONTROL = {
  name: 'control',
  description: 'Replaces the tools of this server.',
  inputSchema: { type: 'object', properties: { state: { type: 'object' }, silent: { type: 'boolean' } } },
};
const read = () => JSON.parse(readFileSync(file, 'utf8'));
let state = read();
let notify = () => {};

function list({ cursor }) {
  const tools = [CONTROL, ...state.tools];
  const from = Number(cursor ?? 0);
  const page = tools.slice(from, from + PAGE);
  return from + PAGE < tools.length ? { tools: page, nextCursor: String(from + PAGE) } : { tools: page };
}

function call({ name, arguments: given = {} }) {
  if (name === 'echo') return { content: [{ type: 'text', text: JSON.stringify(given) }] };
  if (name !== 'control') return { content: [{ type: 'text', text: `${name} ran as of ${state.version}` }] };
  if (given.exit === true) setTimeout(() => process.exit(0), 10);
  if (given.state !== undefined) {
    state = given.state;
    writeFileSync(file, JSON.stringify(state));
    if (given.silent !== true) setImmediate(() => notify({ method: 'notifications/tools/list_changed' }));
  }
  return { content: [{ type: 'text', text: 'changed' }] };
}

function resultOf(method, params) {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'changing', version: state.version },
    };
  }
  if (method === 'tools/list') return list(params);
  if (method === 'tools/call') return call(params);
  return method === 'ping' ? {} : undefined;
}

function answerTo({ id, method, params = {} }) {
  if (id === undefined || method === undefined) return undefined;
  const result = resultOf(method, params);
  const end = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  return { jsonrpc: '2.0', id, ...end };
}

function overStdio() {
  const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  notify = write;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const answer = answerTo(JSON.parse(line));
    if (answer !== undefined) write(answer);
  });
}

function overHttp() {
  const streams = new Set();
  notify = (message) => {
    for (const stream of streams) stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  };
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = body === '' ? undefined : answerTo(JSON.parse(body));
    if (answer === undefined) response.writeHead(202).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}

if (transport === 'http') overHttp();
else overStdio();
