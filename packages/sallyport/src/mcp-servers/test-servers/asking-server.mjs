// A small MCP server over stdio that asks its user things. Its first argument is the protocol that it speaks. Only for tests.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const isModern = process.argv[2] === '2026-07-28';
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const tool = (name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const TOOLS = ['ask', 'hold', 'instance', 'linger', 'said'].map(tool);
const LATE = { message: 'And your password?', requestedSchema: { type: 'object', properties: {} } };

/** What is done with the answer to a question, by its id. */
const asked = new Map();
/** Answers to questions that came too late. */
const said = [];
const lingering = new Set();
/** Stands for the state that a server keeps in its process. */
const INSTANCE = randomUUID();
let questions = 0;

function ask(params, then) {
  questions += 1;
  asked.set(`q${questions}`, then);
  write({ id: `q${questions}`, method: 'elicitation/create', params });
}

const legacyTools = {
  ask: ({ id, params }) => ask(params.arguments, (answer) => write({ id, result: text(answer) })),
  hold: () => {},
  instance: ({ id }) => write({ id, result: text(INSTANCE) }),
  linger: ({ id }) => lingering.add(id),
  said: ({ id }) => write({ id, result: text(said) }),
};

/** Asks in its result, and is called again with the answer. */
function answerModern({ id, params }) {
  const { inputResponses, arguments: given } = params;
  if (params.name === 'hold') return;
  const who = { method: 'elicitation/create', params: given };
  if (inputResponses === undefined) write({ id, result: { resultType: 'input_required', inputRequests: { who } } });
  else write({ id, result: { resultType: 'complete', ...text(inputResponses.who) } });
}

function handshake({ id, method, params }) {
  const serverInfo = { name: 'asking', version: '1.0.0' };
  if (method === 'initialize') {
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (isModern && method === 'server/discover') {
    const kept = { ttlMs: 0, cacheScope: 'private' };
    const about = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo,
    };
    write({ id, result: { ...about, ...kept } });
  } else write({ id, error: { code: -32601, message: 'Method not found' } });
}

function take(message) {
  const { id, method, params = {} } = message;
  if (method === undefined) {
    asked.get(id)?.(message.result ?? message.error);
    asked.delete(id);
  } else if (method === 'notifications/cancelled' && lingering.delete(params.requestId)) {
    ask(LATE, (answer) => said.push(answer));
  } else if (id === undefined) {
    return;
  } else if (method === 'tools/list') write({ id, result: { tools: TOOLS, ...(isModern ? MODERN_LIST : {}) } });
  else if (method === 'ping') write({ id, result: {} });
  else if (method !== 'tools/call') handshake(message);
  else if (isModern) answerModern(message);
  else legacyTools[params.name](message);
}

const MODERN_LIST = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line)));
