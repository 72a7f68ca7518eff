import type { Dialect } from './dialect.ts';
import type { Command } from './suite.ts';

const js = (source: string, ...args: string[]): Command => ['js', source, ...args];

/** For drivers that are an interpreter of JavaScript: it has no processes, no files and no signals. */
export const javascriptDialect: Dialect = {
  echo: (argument) =>
    js(
      'stdout.write(stdin.text()); stdout.write(args[0] + "\\n"); stderr.write("err\\n"); exit(7); stdout.write("no")',
      argument,
    ),
  asks: js(
    'stderr.write("ask\\n"); let line = ""; while (!line.includes("\\n")) line += stdin.read(); stdout.write(line)',
  ),
  environment: js('for (const name in environment) stdout.write(name + "=" + environment[name] + "\\n")'),
  nothing: js(''),
  twoOutputs: js('console.log("out"); console.error("err")'),
  hold: (mark) => js('stdout.write("ready\\n"); for (;;);', mark),
  missing: [['no-such-program'], ['/usr/bin/node', '1']],
  work: js('const held = new Uint8Array(3e7).fill(1); let n = 0; for (let i = 0; i < 5e6; i++) n += held[i];'),
  memoryBomb: js('const held = []; for (;;) held.push("x".repeat(1e6) + held.length);'),
  spin: js('for (;;);'),
  flood: js('for (;;) stdout.write("y\\n");'),
};
