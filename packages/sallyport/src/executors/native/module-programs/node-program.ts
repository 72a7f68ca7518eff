import { SHARED_PROGRAM } from './shared-program.ts';

/** Runs a function in Node: input and output are one JSON object each. */
export const NODE_PROGRAM = `import { registerHooks } from 'node:module';
import { readSync, writeFileSync } from 'node:fs';
const emit = (text) => writeFileSync(1, text);
const complain = (text) => writeFileSync(2, text);
const piece = new Uint8Array(65536);
const decoder = new TextDecoder();
const readPiece = () => {
  const read = readSync(0, piece);
  return read === 0 ? null : decoder.decode(piece.subarray(0, read), { stream: true });
};
const evaluate = eval;
const OWN = 'tool:/module.js';
${SHARED_PROGRAM}
const input = parse(readLine());
registerHooks({
  resolve(name) {
    if (name !== OWN) throw new ErrorClass('there is no module ' + stringify(name) + ' here');
    return { url: OWN, format: 'module', shortCircuit: true };
  },
  load: () => ({ format: 'module', source: input.source, shortCircuit: true }),
});
clearWorld();
giveConsole();
await call(input, async ({ source, format, name }) => {
  if (format === 'script') return evaluate(source + '\\n//# sourceURL=module.js');
  return (await import(OWN))[name];
});
`;
