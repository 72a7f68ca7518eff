import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createToolLayer, type EmbeddedToolLayer, LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { createStory } from '../first-call/story.ts';
import { type After, registerBooking } from './booking.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-transactions-'));
const settings = { data_folder: join(home, 'data'), 'log.level': 'silent' } as const;
/** Somebody else's system, where the seats are. */
const seats = new Set<string>();

async function opened(): Promise<{
  layer: EmbeddedToolLayer;
  book: (after: After) => ReturnType<EmbeddedToolLayer['invoke']>;
}> {
  const layer = await createToolLayer({ settings });
  await registerBooking(layer, seats);
  const { capability_token } = await layer.mintToken({ agent_did: 'did:example:clerk' });
  return { layer, book: (after) => layer.invoke({ tool_id: 'book-seat', parameters: { after }, capability_token }) };
}

/** Starts a layer in another process, and kills it while the tool runs. */
async function interrupted(): Promise<void> {
  const script = fileURLToPath(new URL('interrupted.ts', import.meta.url));
  const running = spawn(process.execPath, [script, settings.data_folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(running, 'exit');
  await Promise.race([once(running.stdout, 'data'), ended]);
  running.kill('SIGKILL');
  await ended;
}

try {
  {
    story.step('What a call changed stays when it ends well');
    const { layer, book } = await opened();
    await using _open = layer;
    const first = await book('answers');
    story.holds('its state and its seat', () => {
      assert.deepEqual(first.result, { seat: 'seat-1', booked: 1 });
      assert.deepEqual([...seats], ['seat-1']);
    });

    story.step('It is taken back when the call fails');
    const failed = await book('fails');
    story.holds('the call says what went wrong', () => assert.equal(failed.error?.e_code, 'E3109'));
    const effect = await layer.ask('side-effects.get', { invocation_id: failed.invocation_id }, LOCAL_CALLER);
    story.holds('its record says that all is as before', () => assert.equal(effect.status, 'rolled_back'));
    story.holds('the seat was given back, by another tool', () => assert.deepEqual([...seats], ['seat-1']));
    const second = await book('answers');
    story.holds('the next booking begins where the first one ended', () =>
      assert.deepEqual(second.result, { seat: 'seat-2', booked: 2 }),
    );
  }

  story.step('It is taken back when the layer is killed in the middle of it');
  await interrupted();
  // The process is gone; the seat it took elsewhere is not.
  seats.add('seat-3');
  const { layer, book } = await opened();
  await using _open = layer;
  const settled = async () => (await layer.ask('outcomes.list', { settled: true }, LOCAL_CALLER)).outcomes;
  for (let tries = 0; (await settled()).length === 0 && tries < 300; tries += 1) await wait(100);
  story.holds('the seat is given back once the tool that does so is there', () =>
    assert.deepEqual([...seats], ['seat-1', 'seat-2']),
  );
  const outcomes = await settled();
  story.holds('the record says that the call did not happen', () =>
    assert.deepEqual(
      outcomes.map(({ tool_id, settlement }) => [tool_id, settlement?.outcome, settlement?.how]),
      [['book-seat', 'did_not_happen', 'rollback']],
    ),
  );
  const third = await book('answers');
  story.holds('and its state is what completed calls left', () =>
    assert.deepEqual(third.result, { seat: 'seat-3', booked: 3 }),
  );
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
