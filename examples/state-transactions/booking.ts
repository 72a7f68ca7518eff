import { setTimeout as wait } from 'node:timers/promises';
import type { EmbeddedToolLayer, NativeCallContext } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

const manifestOf = (tool_id: string, more: Partial<ToolManifest>): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: `Part of a story: ${tool_id}.`,
  parameters_schema: { type: 'object' },
  executor: { kind: 'native' },
  ...more,
});

/** All that it changes is its state, and a seat elsewhere that `release-seat` gives back. */
const BOOK = manifestOf('book-seat', {
  side_effect_policy: 'irreversible',
  executor: { kind: 'native', config: { transacted: true } },
});
const RELEASE = manifestOf('release-seat', { side_effect_policy: 'idempotent' });

/** What a booking does once the seat is taken. */
export type After = 'answers' | 'fails' | 'hangs';

/** Seats of somebody else's system. */
export type Seats = Set<string>;

/** Registers the tools of the story. */
export async function registerBooking(layer: EmbeddedToolLayer, seats: Seats, onTaken = (): void => {}): Promise<void> {
  await layer.registerFunction(BOOK, (given, context) => book(seats, onTaken, given, context));
  await layer.registerFunction(RELEASE, ({ seat }) => ({ released: seats.delete(String(seat)) }));
}

async function book(
  seats: Seats,
  onTaken: () => void,
  { after }: Readonly<Record<string, unknown>>,
  { state, compensateWith, signal }: NativeCallContext,
): Promise<unknown> {
  const booked = Number((await state.get('booked')) ?? 0) + 1;
  await state.put('booked', booked);
  const seat = `seat-${booked}`;
  // Before the seat is taken: from here on it is given back if anything goes wrong.
  await compensateWith('release-seat', { seat });
  seats.add(seat);
  onTaken();
  if (after === 'fails') throw new Error('the printer is out of paper');
  if (after === 'hangs') await wait(600_000, undefined, { signal });
  return { seat, booked };
}
