// A small MCP server over stdio that misbehaves in the way its first argument says. Only for tests.
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const mode = process.argv[2];
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name, more = {}) => ({ name, description: `Tool ${name}.`, inputSchema: { type: 'object' }, ...more });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const PAGE = 100;
const MANY = 10_000;
const cancelled = [];
const answers = [];
const refusals = [];
const MODERN = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'odd', version: '2.3' },
  ttlMs: 0,
  cacheScope: 'private',
};
let changes = 0;
let calls = 0;

if (mode === 'exit') {
  process.stderr.write(`starting\nthe key is ${process.env.API_KEY ?? 'absent'}\nno database configured\n`);
  process.exit(3);
}
if (mode === 'exit-without-file' && !existsSync(process.env.FILE)) process.exit(5);
if (mode === 'rubbish' || mode === 'rubbish-only') {
  for (let line = 0; line < 20; line += 1) console.log(`Welcome! Listening on stdio (${line})`);
  process.stdout.write('{"half": \n[1, 2\n"text"\n42\n{"jsonrpc":"1.0"}\n\n');
}
if (mode === 'flood' || mode === 'endless-line') {
  const block = mode === 'flood' ? `${'y'.repeat(64)}\n`.repeat(1000) : 'z'.repeat(65_536);
  const pour = () => {
    while (process.stdout.write(block));
    process.stdout.once('drain', pour);
  };
  pour();
}

if (mode === 'stderr-flood') setInterval(() => process.stderr.write('e'.repeat(256 * 1024)), 1);
if (mode === 'message-flood') {
  const block = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n`.repeat(1000);
  setInterval(() => process.stdout.write(block), 1);
}
if (mode === 'slow-shutdown') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}

const lists = {
  'silent-change': () => Array.from({ length: calls + 1 }, (_, at) => tool(`new-${at}`)),
  'twin-tools': () => [tool('twin'), tool('twin', { description: 'The other one.' }), tool('a b'), tool('a_b')],
  'malformed-tools': () => [tool('fine'), { name: 'no-schema' }, null, { inputSchema: {} }, 7, tool('also-fine')],
  'list-changed': () => [tool('change'), ...Array.from({ length: changes }, (_, at) => tool(`new-${at}`))],
};

function list({ cursor }) {
  if (mode === 'a-hundred-thousand') return { tools: Array.from({ length: 100_000 }, (_, at) => tool(`t${at}`)) };
  if (mode === 'endless-cursors') return { tools: [tool(`t${cursor}`)], nextCursor: String(Number(cursor ?? 0) + 1) };
  if (mode === 'cursor-circle') return { tools: [tool('again')], nextCursor: 'same' };
  if (mode !== 'many-tools') return { tools: (lists[mode] ?? (() => [tool('echo')]))() };
  const from = Number(cursor ?? 0);
  const tools = Array.from({ length: PAGE }, (_, at) => tool(`tool-${from + at}`));
  return from + PAGE < MANY ? { tools, nextCursor: String(from + PAGE) } : { tools };
}

const onCall = {
  'crash-on-call': () => process.exit(1),
  'wrong-ids': ({ id }) => write({ id: id + 500, result: text('for nobody') }),
  'big-answer': ({ id, params }) =>
    write({ id, result: params.name === 'big' ? text('x'.repeat(17 * 1024 * 1024)) : text('small') }),
  'list-changed': ({ id }) => {
    changes += 1;
    write({ method: 'notifications/tools/list_changed' });
    write({ id, result: text(changes) });
  },
  never: ({ id, params }) => {
    if (params.name === 'seen') write({ id, result: text(JSON.stringify(cancelled)) });
    else
      write({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: 1 } });
  },
  'asks-back': ({ id }) => {
    for (const method of ['sampling/createMessage', 'elicitation/create', 'roots/list', 'ping']) {
      write({ id: method, method, params: {} });
    }
    const wait = () =>
      refusals.length < 4 ? setTimeout(wait, 5) : write({ id, result: text(JSON.stringify(refusals)) });
    wait();
  },
  'silent-change': ({ id }) => {
    calls += 1;
    write({ id, result: text(calls) });
  },
  poison: ({ id }) => {
    const odd = { toString: 1, valueOf: 1 };
    write({ method: 42 });
    write({ method: odd, params: null });
    write({ id: odd, method: 'ping' });
    write({ id: null, error: { code: -32700, message: 'parse error' } });
    write({ id: [id], result: {} });
    write({ method: 'notifications/progress', params: [1] });
    write({ method: 'notifications/tools/list_changed', params: 'text' });
    write({ method: 'notifications/cancelled', params: { requestId: odd } });
    write({ id: 3, error: 'text' });
    write({ id: 'server-discover-probe-x', result: null });
    write({ id, error: { code: odd, message: odd } });
  },
  'answers-twice': ({ id, params }) => {
    write({ id: String(id), result: text('as text') });
    write({ id, result: text(params.arguments.message) });
    write({ id, result: text('again') });
  },
  'answers-late': ({ id, params }) => {
    if (params.name === 'count') write({ id, result: text(cancelled.length) });
  },
  'reversed-order': ({ id, params }) => {
    setTimeout(() => write({ id, result: text(params.arguments.message) }), params.arguments.after);
  },
  'progress-storm': ({ id, params }) => {
    const { progressToken } = params._meta;
    for (let progress = 1; progress <= 5000; progress += 1) {
      write({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    write({ id, result: text('done') });
  },
  'log-storm': ({ id }) => {
    for (let line = 0; line < 5000; line += 1) {
      write({ method: 'notifications/message', params: { level: 'info', data: `line ${line}` } });
    }
    write({ id, result: text('done') });
  },
  deaf: () => process.stdin.pause(),
  elicits: ({ id, params }) => {
    write({ id: 'question', method: 'elicitation/create', params: params.arguments });
    if (params.name === 'take-back') write({ method: 'notifications/cancelled', params: { requestId: 'question' } });
    if (params.name !== 'wait') return write({ id, result: text('did not wait') });
    const wait = () =>
      answers.length === 0 ? setTimeout(wait, 5) : write({ id, result: text(JSON.stringify(answers.pop())) });
    wait();
  },
  'asks-input': ({ id, params }) => {
    const { inputResponses, requestState } = params;
    if (params.name === 'endless' || (inputResponses === undefined && requestState === undefined)) {
      const requests = { who: { method: params.name === 'samples' ? 'sampling/createMessage' : 'elicitation/create' } };
      requests.who.params = params.arguments;
      write({ id, result: { resultType: 'input_required', inputRequests: requests, requestState: 'as it was' } });
    } else write({ id, result: { resultType: 'complete', ...text(JSON.stringify({ inputResponses, requestState })) } });
  },
  hang: ({ id }) => {
    calls += 1;
    if (calls === 1) write({ id, result: text('the first one works') });
    else for (;;);
  },
  'not-an-object': ({ id }) => write({ id, result: ['no', 'object'] }),
  'rpc-error': ({ id, params }) =>
    write({ id, error: { code: params.name === 'refused' ? -32602 : -32603, message: 'it does not work' } }),
  progress: ({ id, params }) => {
    const progressToken = params._meta?.progressToken;
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      write({
        method: 'notifications/progress',
        params: { progressToken, progress: step, total: 5, message: `step ${step}` },
      });
      if (step < 5) return;
      clearInterval(timer);
      write({ id, result: text('done') });
    }, 300);
  },
  'long-numbers': ({ id }) =>
    write({ id, result: { ...text('paid'), structuredContent: { account: JSON.rawJSON('9007199254740993') } } }),
  environment: ({ id }) => write({ id, result: text(JSON.stringify(process.env)) }),
  pid: ({ id }) => write({ id, result: text(process.pid) }),
};

function answer(message) {
  const { id, method, params = {} } = message;
  if (method === undefined) {
    refusals.push(message.error?.code ?? 'answered');
    answers.push(message.result);
    return;
  }
  if (mode === 'exit-at-probe' && method === 'server/discover') process.exit(1);
  if (mode === 'ignores-unknown' && method === 'server/discover') return;
  if (mode === 'exit-at-initialize' && method === 'initialize') process.exit(4);
  if (mode === 'hangs-at-initialize' && method === 'initialize') return;
  if (mode === 'never-lists' && method === 'tools/list') return;
  if (mode === 'never-listens' && method === 'server/discover') {
    write({ id, result: { ...MODERN, capabilities: { tools: { listChanged: true } } } });
    return;
  }
  if (mode === 'never-listens' && method === 'subscriptions/listen') return;
  if ((mode === 'asks-input' || mode === 'starts-slowly') && method === 'server/discover') {
    write({ id, result: MODERN });
    return;
  }
  if (method === 'notifications/cancelled') {
    cancelled.push(params.requestId);
    if (mode === 'answers-late') write({ id: params.requestId, result: text('too late') });
  }
  if (id === undefined) return;
  if (method === 'initialize') {
    write({
      id,
      result: {
        protocolVersion: mode === 'bad-version' ? '1999-01-01' : params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'odd', version: '2.3' },
      },
    });
  } else if (method === 'tools/list') write({ id, result: list(params) });
  else if (method === 'tools/call')
    (onCall[mode] ?? (() => write({ id, result: text(params.arguments?.message) })))(message);
  else if (method === 'ping') write({ id, result: {} });
  else write({ id, error: { code: -32601, message: 'Method not found' } });
}

/** One that starts slowly reads nothing before a second message waits for it. */
const early = [];
const takeLine = (line) => {
  if (mode !== 'starts-slowly' || early.length > 1) return answer(JSON.parse(line));
  early.push(JSON.parse(line));
  if (early.length > 1) for (const message of early) answer(message);
};

if (['silent', 'rubbish-only', 'flood', 'endless-line'].includes(mode)) setInterval(() => {}, 1000);
else createInterface({ input: process.stdin }).on('line', takeLine);
