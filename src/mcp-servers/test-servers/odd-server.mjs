// A small MCP server over stdio that misbehaves in the way its first argument says. Only for tests.
import { createInterface } from 'node:readline';

const mode = process.argv[2];
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name, more = {}) => ({ name, description: `Tool ${name}.`, inputSchema: { type: 'object' }, ...more });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const PAGE = 100;
const MANY = 10_000;
const cancelled = [];
const refusals = [];
let changes = 0;
let calls = 0;

if (mode === 'exit') {
  process.stderr.write(`starting\nthe key is ${process.env.API_KEY ?? 'absent'}\nno database configured\n`);
  process.exit(3);
}
if (mode === 'rubbish' || mode === 'rubbish-only') {
  for (let line = 0; line < 20; line += 1) console.log(`Welcome! Listening on stdio (${line})`);
  process.stdout.write('{"half": \n[1, 2\n"text"\n42\n{"jsonrpc":"1.0"}\n\n');
}
if (mode === 'flood') {
  const block = `${'y'.repeat(64)}\n`.repeat(1000);
  const pour = () => {
    while (process.stdout.write(block));
    process.stdout.once('drain', pour);
  };
  pour();
}

const lists = {
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
  environment: ({ id }) => write({ id, result: text(JSON.stringify(process.env)) }),
  pid: ({ id }) => write({ id, result: text(process.pid) }),
};

function answer(message) {
  const { id, method, params = {} } = message;
  if (method === undefined) {
    refusals.push(message.error?.code ?? 'answered');
    return;
  }
  if (mode === 'exit-at-probe' && method === 'server/discover') process.exit(1);
  if (mode === 'ignores-unknown' && method === 'server/discover') return;
  if (method === 'notifications/cancelled') cancelled.push(params.requestId);
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

if (['silent', 'rubbish-only', 'flood'].includes(mode)) setInterval(() => {}, 1000);
else createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)));
