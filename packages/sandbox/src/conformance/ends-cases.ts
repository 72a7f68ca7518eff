import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { collectOutput } from '../collect-output.ts';
import type { Dialect } from './dialect.ts';
import { type Check, firstOutput } from './suite.ts';

/** How sandboxes end, and that they leave nothing. */
export function endsCases(check: Check, dialect: Dialect): void {
  killCases(check, dialect);
  leavingCases(check, dialect);

  check('what a tool wrote before anybody read it is kept', async ({ start }) => {
    const running = await start(dialect.twoOutputs);
    await running.exited;
    await sleep(20);
    const { stdout, stderr } = await collectOutput(running, { stdoutBytesMax: 100, stderrBytesMax: 100 });
    deepEqual([stdout, stderr], ['out\n', 'err\n']);
  });

  check('a tool that does not read its input does no harm', async ({ start }) => {
    const running = await start(dialect.nothing);
    running.stdin.write(Buffer.alloc(1024 * KiB));
    running.stdin.end();
    running.stdout.resume();
    running.stderr.resume();
    equal((await running.exited).code, 0);
  });
}

function killCases(check: Check, dialect: Dialect): void {
  check.with(
    dialect.tree,
    'kill ends the whole tree, also what ignores TERM, stopped itself or made its own session',
    async ({ driver, start, traces }, tree) => {
      const mark = `mark-${process.pid}-tree`;
      const running = await start(tree(mark));
      await firstOutput(running);
      // Where tools are processes of the host, all of them are seen there.
      ok(traces(mark).length >= (driver.isolation === 'namespaces' ? 4 : 1));
      running.kill(50);
      const exit = await running.exited;
      deepEqual(traces(mark), []);
      equal(exit.signal, 'SIGKILL');
      running.kill();
    },
  );

  check.with(dialect.endOnTerm, 'kill with a grace lets the tool end in order', async ({ start }, command) => {
    const running = await start(command);
    await firstOutput(running);
    const output = collectOutput(running, { stdoutBytesMax: 100, stderrBytesMax: 100 });
    running.kill(20_000);
    running.kill(20_000);
    equal((await running.exited).code, 3);
    equal((await output).stdout, 'bye\n');
  });

  check('a later kill without grace does not wait for an earlier grace', async ({ start }) => {
    const running = await start(dialect.hold('grace'));
    await firstOutput(running);
    running.kill(600_000);
    running.kill();
    equal((await running.exited).signal, 'SIGKILL');
  });

  check('kill right after the start leaves nothing', async ({ start, traces }) => {
    const mark = `mark-${process.pid}-early`;
    const all = await Promise.all([1, 2, 3, 4].map(() => start(dialect.hold(mark))));
    for (const running of all) running.kill(10);
    for (const exit of await Promise.all(all.map(({ exited }) => exited))) ok(exit.code !== 0);
    deepEqual(traces(mark), []);
  });

  check('leaving a scope ends the sandbox', async ({ start, traces }) => {
    const mark = `mark-${process.pid}-scope`;
    {
      await using running = await start(dialect.hold(mark));
      await firstOutput(running);
    }
    deepEqual(traces(mark), []);
  });
}

function leavingCases(check: Check, dialect: Dialect): void {
  check.with(
    dialect.leaveBehind,
    'what a tool leaves in the background ends with it and holds no pipe open',
    async ({ run, traces }, leaveBehind) => {
      const mark = `mark-${process.pid}-left`;
      const { exit, stdout } = await run(leaveBehind(mark));
      equal(exit.code, 0);
      match(stdout, /done\n/);
      deepEqual(traces(mark), []);
    },
  );

  check.with(dialect.sh, 'sandboxes side by side do not see each other', async ({ run }, sh) => {
    const script = 'echo "$1" >/tmp/mine; sleep 0.2; cat /tmp/*; set -- /proc/[0-9]*; echo $#';
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => run(sh(script, name))));
    deepEqual(
      all.map(({ stdout }) => stdout.split('\n')[0]),
      ['a', 'b', 'c', 'd'],
    );
    for (const { stdout } of all) ok(Number(stdout.split('\n')[1]) <= 5, stdout);
  });

  check.with(dialect.sh, 'nothing stays in /tmp for the next sandbox', async ({ run }, sh) => {
    await run(sh('echo x >/tmp/left; echo x >/dev/shm/left'));
    equal((await run(sh('cat /tmp/left /dev/shm/left'))).stdout, '');
  });
}
