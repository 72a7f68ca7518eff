#!/usr/bin/env node
// The installed program `sallyport`. Plain enough for any Node that knows modules: an old one says this sentence and not what
// it does not understand of the rest.
const NODE_MAJOR_MIN = 24;

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  console.error(
    `Sallyport needs Node.js ${NODE_MAJOR_MIN} or newer, and this is ${process.versions.node}: install one from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  // Beside the program, where only who may change the program can change what was compiled of it.
  process.getBuiltinModule('node:module').enableCompileCache(`${import.meta.dirname}/../compiled`);
  void import('./compose/main.ts');
}
