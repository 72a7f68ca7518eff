/**
 * Code shared by both programs, so that a function cannot distinguish them: which globals exist, how its console writes,
 * how it is called, and how its result is handled. It is placed in a block that defines `emit(text)` for the result,
 * `complain(text)` for the console and for checkpoints, and `readPiece()` for the input; `call` gets `load(input)` for the function. It saves the built-in objects it needs before
 * any foreign code runs.
 */
export const SHARED_PROGRAM = String.raw`
const { parse, stringify } = JSON;
const { ownKeys } = Reflect;
const { defineProperty } = Object;
const { apply } = Reflect;
const { indexOf, slice, split } = String.prototype;
const SHOWN = 2000;
const ErrorClass = Error;
const TypeErrorClass = TypeError;
const toText = String;
const keep = new Set(['Object', 'Function', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError',
  'URIError', 'AggregateError', 'Iterator', 'Array', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'queueMicrotask',
  'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'Infinity', 'NaN', 'undefined',
  'Number', 'Boolean', 'String', 'Math', 'Reflect', 'Symbol', 'eval', 'globalThis', 'Date', 'RegExp', 'JSON', 'Proxy', 'Map',
  'Set', 'WeakMap', 'WeakSet', 'ArrayBuffer', 'Uint8ClampedArray', 'Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array',
  'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'DataView',
  'Promise', 'BigInt', 'WeakRef', 'FinalizationRegistry']);
const clearWorld = () => {
  for (const name of ownKeys(globalThis)) if (typeof name === 'string' && !keep.has(name)) delete globalThis[name];
};
const shown = (value) => {
  if (typeof value === 'string') return value;
  if (value instanceof ErrorClass) return value.name + ': ' + value.message;
  if (typeof value !== 'object' || value === null) return toText(value);
  try {
    return stringify(value) ?? toText(value);
  } catch {
    return '[object]';
  }
};
const say = (...values) => {
  let text = '';
  for (let at = 0; at < values.length; at += 1) text += (at === 0 ? '' : ' ') + shown(values[at]);
  complain(text + '\n');
};
const giveConsole = () => {
  const value = { log: say, info: say, debug: say, warn: say, error: say, trace: say };
  defineProperty(globalThis, 'console', { value, writable: true, configurable: true, enumerable: false });
};
// Only lines of the function's own source: where the others lead is no concern of it.
const linesOf = (stack) => {
  const lines = [];
  if (typeof stack !== 'string') return lines;
  const all = apply(split, stack, ['\n']);
  for (let at = 0; at < all.length; at += 1) {
    const found = /^\s*at (?:async )?(?:(.*?) \()?(?:.*[^\w.]|)(?:module\.js|<[^<>]*>):(\d+):\d+\)?$/.exec(all[at]);
    if (found === null) continue;
    const name = found[1] === undefined || found[1][0] === '<' ? '' : found[1] + ' ';
    lines[lines.length] = name + 'line ' + found[2];
  }
  return lines;
};
const described = (thrown) => {
  try {
    if (typeof thrown !== 'object' || thrown === null) return { name: '', message: shown(thrown), stack: [] };
    const { name, message, stack } = thrown;
    if (typeof message !== 'string') return { name: '', message: shown(thrown), stack: [] };
    return { name: typeof name === 'string' ? name : '', message, stack: linesOf(stack) };
  } catch {
    return { name: '', message: 'something that cannot be shown', stack: [] };
  }
};
// Put together by hand: a member of the prototypes that the function changed is not asked.
const emitError = (kind, { name, message, stack }) => {
  let lines = '';
  const short = (text) => stringify(apply(slice, text, [0, SHOWN]));
  for (let at = 0; at < stack.length && at < 10; at += 1) lines += (at === 0 ? '' : ',') + short(stack[at]);
  emit('{"' + kind + '":{"name":' + short(name) + ',"message":' + short(message) + ',"stack":[' + lines + ']}}');
};
const ranOut = (thrown) =>
  typeof thrown === 'object' && thrown !== null && thrown.name === 'InternalError' && thrown.message === 'out of memory';
let unread = '';
// The next line of the input; what is left of it at its end.
const readLine = () => {
  let line = '';
  let piece = unread;
  unread = '';
  while (piece !== null) {
    const end = apply(indexOf, piece, ['\n']);
    if (end >= 0) {
      unread = apply(slice, piece, [end + 1]);
      return line + apply(slice, piece, [0, end]);
    }
    line += piece;
    piece = readPiece();
  }
  return line;
};
const checkpointsOf = ({ mark, restored }) => {
  const state = readLine();
  return {
    restored: state === '' ? undefined : { ...restored, state: parse(state) },
    save: async (given, { milestone, name } = {}) => {
      const text = stringify(given);
      if (text === undefined) throw new TypeErrorClass('the state is no JSON value');
      const type = name !== undefined ? 'named ' + name : milestone !== undefined ? 'macro ' + milestone : 'micro';
      complain(mark + ' ' + type + ' ' + text + '\n');
      const answer = readLine();
      if (apply(indexOf, answer, ['saved ']) === 0) return { checkpointId: apply(slice, answer, [6]) };
      const refusal = new ErrorClass(apply(slice, answer, [14]));
      refusal.code = apply(slice, answer, [8, 13]);
      throw refusal;
    },
  };
};
const sessionOf = (session) => async () => {
  if (session !== undefined) return session.context;
  throw new ErrorClass('Only a function whose manifest says session_context reads it. Add it to execution_config.');
};
const call = async (input, load) => {
  const { session, ...given } = input.context;
  const context = { ...given, secrets: new Map(given.secrets), sessionContext: sessionOf(session) };
  let run;
  try {
    if (input.mark !== undefined) context.checkpoints = checkpointsOf(input);
    run = await load(input);
  } catch (thrown) {
    if (ranOut(thrown)) throw thrown;
    emitError('error', described(thrown));
    return;
  }
  if (typeof run !== 'function') {
    emitError('missing', { name: '', message: typeof run, stack: [] });
    return;
  }
  let text;
  try {
    const value = await run(input.parameters, context);
    text = stringify(value === undefined ? null : value);
  } catch (thrown) {
    if (ranOut(thrown)) throw thrown;
    emitError('error', described(thrown));
    return;
  }
  if (text === undefined) emitError('error', { name: 'TypeError', message: 'the result is no JSON value', stack: [] });
  else emit('{"result":' + text + '}');
};`;
