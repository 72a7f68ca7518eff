import { expect, test } from 'vitest';
import { isShell, starterOf } from './script-command.ts';

test.each([
  ['a', '#!/bin/sh\n', ['/bin/sh']],
  ['a.py', '#! /usr/bin/python3 -I\n', ['/usr/bin/python3', '-I']],
  ['a', '#!/usr/bin/env node\r\n', ['node']],
  ['a', '#!/usr/bin/env -S deno run --quiet\n', ['deno', 'run', '--quiet']],
  ['a/b.PY', 'print(1)', ['python3']],
  ['a.mjs', '', ['node']],
  ['a.sh', '#!\n', ['sh']],
  ['a.sh', `#!${'x'.repeat(300)}\n`, ['sh']],
  ['a.sh', '#!/bin/sh', ['sh']],
  ['a', '#!/usr/bin/env X=1 sh\n', undefined],
  ['a', '#!/usr/bin/env -i sh\n', undefined],
  ['a', 'plain', undefined],
  ['a.constructor', '', undefined],
  ['a.txt', '', undefined],
])('%s that begins with %j is started by %j', (path, head, starter) => {
  expect(starterOf(path, Buffer.from(head))).toEqual(starter);
});

test('shells are told from other interpreters', () => {
  expect([['/bin/bash'], ['sh'], ['dash', '-e']].map((starter) => isShell(starter as [string]))).toEqual([
    true,
    true,
    true,
  ]);
  expect([['python3'], ['node'], ['/opt/fresh']].map((starter) => isShell(starter as [string]))).toEqual([
    false,
    false,
    false,
  ]);
});
