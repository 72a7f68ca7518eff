import { SHARED_PROGRAM } from './shared-program.ts';

/** Runs a function in the interpreter: input and output are one JSON object each. */
export const INTERPRETER_PROGRAM = `{
const out = stdout.write;
const complain = stderr.write;
const emit = (text) => out(text);
const { define } = modules;
const readPiece = stdin.read;
const evaluate = eval;
${SHARED_PROGRAM}
const input = parse(readLine());
clearWorld();
giveConsole();
await call(input, async ({ source, format, name }) => {
  if (format === 'script') return evaluate(source);
  define('module.js', source);
  return (await import('module.js'))[name];
});
}`;
