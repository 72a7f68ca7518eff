import { WASM_BOUNDS } from '../settings.ts';

/**
 * The world of a script, made inside the interpreter before anything foreign runs. It keeps what it needs of the built-in
 * objects for itself, so that a script that changes them changes nothing here. Texts pass as JSON, since those of the
 * interpreter's own interface end at a NUL.
 *
 * Arguments: write(stream, json), read() → json or null, leave(code), define(name, json), names as JSON {args, environment}.
 * Gives: a function that writes an uncaught error to stderr and says what it was: 1 that memory ran out, 2 null, 0 any other.
 */
export const PRELUDE = String.raw`(function (hostWrite, hostRead, hostLeave, hostDefine, given) {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { slice } = String.prototype;
  const { freeze, defineProperty } = Object;
  const ErrorClass = Error;
  const TooLarge = RangeError;
  const PIECE = 16384;
  const write = (stream, text) => {
    for (let at = 0; at < text.length; at += PIECE) hostWrite(stream, stringify(apply(slice, text, [at, at + PIECE])));
  };
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof ErrorClass) return described(value);
    if (typeof value !== 'object' || value === null) return typeof value === 'symbol' ? value.toString() : value + '';
    try {
      return stringify(value) ?? value + '';
    } catch {
      return '[object]';
    }
  };
  const described = (error) => error.name + ': ' + error.message + '\n' + (error.stack ?? '');
  const line = (stream) => (...values) => {
    let text = '';
    for (let at = 0; at < values.length; at += 1) text += (at === 0 ? '' : ' ') + shown(values[at]);
    write(stream, text + '\n');
  };
  const stream = (number) => freeze({ write: (text) => write(number, text + '') });
  const read = () => {
    const piece = hostRead();
    return piece === null ? null : parse(piece);
  };
  const text = () => {
    let all = '';
    for (let piece = read(); piece !== null; piece = read()) all += piece;
    return all;
  };
  // Nothing of a script runs after this: the loop is ended from outside, and such an end cannot be caught.
  const exit = (code = 0) => {
    hostLeave(code >>> 0 & 255);
    for (;;);
  };
  let defined = 0;
  const define = (name, source) => {
    const called = name + '';
    const text = source + '';
    defined += text.length;
    if (called.length > ${WASM_BOUNDS.moduleNameMax} || defined > ${WASM_BOUNDS.definedMax}) {
      throw new TooLarge('the modules or their names are too long');
    }
    hostDefine(stringify(called), stringify(text));
  };
  const { args, environment } = parse(given);
  const world = {
    args,
    environment,
    stdin: freeze({ read, text }),
    stdout: stream(1),
    stderr: stream(2),
    exit,
    modules: freeze({ define }),
    console: { log: line(1), info: line(1), debug: line(1), warn: line(2), error: line(2), trace: line(2) },
  };
  for (const name in world) {
    defineProperty(globalThis, name, { value: world[name], writable: true, configurable: true, enumerable: false });
  }
  return (thrown) => {
    if (typeof thrown !== 'object' || thrown === null) {
      write(2, 'Uncaught ' + shown(thrown) + '\n');
      return thrown === null ? 2 : 0;
    }
    const { name, message, stack } = thrown;
    const head = typeof message === 'string' ? (name === undefined ? '' : name + ': ') + message : shown(thrown);
    write(2, 'Uncaught ' + head + '\n' + (typeof stack === 'string' ? stack : ''));
    return name === 'InternalError' && message === 'out of memory' ? 1 : 0;
  };
})`;
