// A small MCP server over stdio that asks its user things. Its first argument is the protocol that it speaks. Only for tests.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const isModern = process.argv[2] === '2026-07-28';
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const tool = (name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const TOOLS = ['ask', 'done', 'fail', 'hold', 'instance', 'linger', 'log', 'request', 'said', 'seen'].map(tool);
const LATE = { message: 'And your password?', requestedSchema: { type: 'object', properties: {} } };

/** What is done with the answer to a question, by its id. */
const asked = new Map();
/** Answers to questions that came too late. */
const said = [];
const lingering = new Set();
/** Stands for the state that a server keeps in its process. */
const INSTANCE = randomUUID();
let questions = 0;

function ask(params, then, method = 'elicitation/create') {
  questions += 1;
  asked.set(`q${questions}`, then);
  write({ id: `q${questions}`, method, params });
}

/** Sends requests to the client, by their names; the result is what came back to each. */
function request({ id, params }) {
  const said = {};
  const requests = Object.entries(params.arguments);
  for (const [key, { method, params: given }] of requests)
    ask(
      given,
      (answer) => {
        said[key] = answer;
        if (Object.keys(said).length === requests.length) write({ id, result: text(said) });
      },
      method,
    );
}

/** Level that the client set for its log messages, and what else it said of itself. */
let level;
let client;

function log({ id, params }) {
  for (const message of params.arguments.messages) write({ method: 'notifications/message', params: message });
  write({ id, result: text(isModern ? params._meta : { level: level ?? null }) });
}

const legacyTools = {
  ask: ({ id, params }) => ask(params.arguments, (answer) => write({ id, result: text(answer) })),
  done: ({ id, params }) => {
    write({ method: 'notifications/elicitation/complete', params: params.arguments });
    write({ id, result: text('done') });
  },
  fail: ({ id, params }) => write({ id, error: params.arguments }),
  hold: () => {},
  instance: ({ id }) => write({ id, result: text(INSTANCE) }),
  linger: ({ id }) => lingering.add(id),
  log,
  request,
  seen: ({ id }) => write({ id, result: text(client) }),
  said: ({ id }) => write({ id, result: text(said) }),
};

/** Asks in its result, and is called again with the answer. */
function answerModern({ id, params }) {
  const { inputResponses, arguments: given } = params;
  if (params.name === 'hold') return;
  if (params.name === 'log') return log({ id, params });
  if (params.name === 'fail') return write({ id, error: given });
  if (params.name === 'seen') return write({ id, result: { resultType: 'complete', ...text(params._meta) } });
  if (params.name === 'request') return answerRequest({ id, inputResponses, requestState: params.requestState, given });
  const who = { method: 'elicitation/create', params: given };
  if (inputResponses === undefined) write({ id, result: { resultType: 'input_required', inputRequests: { who } } });
  else write({ id, result: { resultType: 'complete', ...text(inputResponses.who) } });
}

/** As many rounds as `given.rounds` has, each with its own questions and a state of its own. */
function answerRequest({ id, inputResponses, requestState, given }) {
  const rounds = given.rounds ?? [given];
  const { at, said } = requestState === undefined ? { at: 0, said: {} } : JSON.parse(requestState);
  const all = { ...said, ...inputResponses };
  const inputRequests = rounds[at];
  if (inputRequests === undefined) return write({ id, result: { resultType: 'complete', ...text(all) } });
  const state = JSON.stringify({ at: at + 1, said: all });
  write({ id, result: { resultType: 'input_required', inputRequests, requestState: state } });
}

function handshake({ id, method, params }) {
  const serverInfo = { name: 'asking', version: '1.0.0' };
  if (method === 'initialize') {
    client = params.capabilities;
    const capabilities = { tools: {}, logging: {} };
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (isModern && method === 'server/discover') {
    const kept = { ttlMs: 0, cacheScope: 'private' };
    const about = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, logging: {} },
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
  else if (method === 'logging/setLevel' && !isModern) {
    level = params.level;
    write({ id, result: {} });
  } else if (method !== 'tools/call') handshake(message);
  else if (isModern) answerModern(message);
  else legacyTools[params.name](message);
}

const MODERN_LIST = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line)));
