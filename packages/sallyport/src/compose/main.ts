import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CliParts } from '../doors/cli/cli-parts.ts';
import { runCli } from '../doors/cli/run-cli.ts';
import { openLayer } from './open-layer.ts';
import { VERSION } from './version.ts';

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());

// A reader such as `head` may close the output early: that ends the command as a signal does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  stopped.abort();
});

/**
 * Code that only some commands need is loaded by them: most commands ask a running layer, and take a third of the time
 * this way.
 */
const parts: CliParts = {
  io: {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: stopped.signal,
  },
  version: VERSION,
  program: programOf(fileURLToPath(import.meta.url)),
  openLayer: (options, whenAbsent) => openLayer(options, { whenAbsent }),
  serve: async (options) => {
    const { serveUntilStopped } = await import('./running-layer/serve-until-stopped.ts');
    return serveUntilStopped(options, { signal: stopped.signal, write: (text) => void process.stdout.write(text) });
  },
  mcpStdio: async (options) => {
    const { serveStandardStreams } = await import('./parts/gateway/standard-streams.ts');
    const { stdin: input, stdout: output } = process;
    const note = (line: string): void => void process.stderr.write(`${line}\n`);
    return serveStandardStreams(options, { input, output, signal: stopped.signal, note });
  },
  doctor: async (options) => (await import('./doctor.ts')).doctor(options),
  migrateSettings: async (text, name) =>
    (await import('./settings/specifications/migrate-settings.ts')).migrateSettings(text, name),
};

// A command may wait for something that does not keep the process alive, such as a sandboxed program. The timer keeps
// it running until the command is done.
const untilDone = setInterval(() => undefined, 2 ** 30);
runCli(process.argv.slice(2), parts)
  .then((code) => {
    process.exitCode = code;
  })
  .finally(() => {
    clearInterval(untilDone);
    // A command may have begun to read a line that nobody typed.
    process.stdin.destroy();
  });

/**
 * The command that starts this program, derived from the place of this file. The cache of npx may be emptied, so there
 * npx itself is used.
 */
function programOf(here: string): readonly string[] {
  if (/[\\/]_npx[\\/]/.test(here)) return ['npx', '-y', `sallyport@${VERSION}`];
  return [process.execPath, join(dirname(here), '../../bin/sallyport.mjs')];
}
