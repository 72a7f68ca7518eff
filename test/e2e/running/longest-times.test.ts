import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../../packages/sallyport/src/compose/settings.ts';
import { LOCAL_CALLER, type Settings } from '../../../packages/sallyport/src/index.ts';
import { openDesk, toolOf } from '../calls/desk.fixture.ts';

/** A layer that stops waits for these. */
const AT_THE_END = ['shutdown.grace_seconds', 'shutdown.notice_seconds'];

/** Each time of the settings, as long as it may be. */
const longestTimes = (): Partial<Settings> =>
  Object.fromEntries(
    SETTINGS.flatMap(({ key, unit = '', maximum }: { key: string; unit?: string; maximum?: number }) =>
      ['ms', 'seconds', 'minutes', 'days'].includes(unit) && maximum !== undefined && !AT_THE_END.includes(key)
        ? [[key, maximum] as const]
        : [],
    ),
  );

test('OPS-01.1 with every time as long as it may be, no timer fires at once, and calls, keys and checkpoints have their ends', async () => {
  const overflows: string[] = [];
  const onWarning = ({ name, stack = '' }: Error): void => {
    if (name === 'TimeoutOverflowWarning') overflows.push(stack);
  };
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const settings = longestTimes();
  expect(Object.keys(settings).length).toBeGreaterThan(40);
  await using desk = await openDesk({ settings });
  await desk.layer.registerFunction(toolOf('saves', { side_effect_policy: 'idempotent' }), async ({ n }, context) => {
    await context.checkpoints.save({ n }, { milestone: 'done' });
    return { text: 'word '.repeat(5_000) };
  });
  const keyed = { execution_options: { idempotency_key: 'k' } };
  expect(await desk.invoke('plain', 1, keyed)).toMatchObject({ body: { status: 'success' } });
  expect(await desk.invoke('saves', 1)).toMatchObject({ body: { status: 'success' } });
  const later = await desk.invoke('saves', 2, { execution_options: { async_mode: true } });
  await desk.reaches(String(later.body['invocation_id']), 'COMPLETED');
  const waiting = await desk.waits('pay', 3);
  await desk.layer.ask('approvals.approve', { approval_id: waiting.approvalId }, LOCAL_CALLER);
  await desk.reaches(waiting.invocationId, 'COMPLETED');
  await desk.layer.ask('keys.rotate', {}, LOCAL_CALLER);
  expect(overflows).toEqual([]);
}, 120_000);
