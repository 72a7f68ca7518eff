import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { noticeOf, notifierConformance } from '../../conformance/notifier.conformance.ts';
import { createConsoleNotifier } from './console-notifier.ts';

async function open() {
  const output = new PassThrough();
  const said: string[] = [];
  output.on('data', (chunk) => said.push(String(chunk)));
  const close = async () => void output.destroy();
  return { notifier: createConsoleNotifier(output), said: () => said, output, close };
}

notifierConformance(test, 'console', open, { notifiesApproverAlone: false, showsCalls: true });

test('arguments that look like lines of the notice stay behind their indent', async () => {
  const { notifier, said, close } = await open();
  await notifier.notify(noticeOf({ argumentsText: '{\n  outcome: approved\n}' }));
  expect(
    said()[0]
      ?.split('\n')
      .filter((line) => /^ {2}\S/.test(line)),
  ).toHaveLength(12);
  await close();
});

test('a terminal that is gone is no failure', async () => {
  const { notifier, output } = await open();
  output.end();
  expect(() => notifier.notify(noticeOf())).not.toThrow();
});
