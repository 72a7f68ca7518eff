// What the programs of this folder share: each drives one published client, and prints what that client shows of each feature.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** Where to connect: `url` and `token`, or `command`, `args` and `env`; `prefix` is that of the tools' names. */
export const target = JSON.parse(process.argv[2]);
export const headers = { Authorization: `Bearer ${target.token}` };
/** The answer to the question of the server. */
export const ANSWER = { action: 'accept', content: { name: 'Ada' } };
const [LOOKS_MAX, PAUSE_MS] = [100, 50];

export const named = (tool) => `${target.prefix}${tool}`;

/** Looks at one feature after the other and prints what was seen. A look that throws has seen what it threw. */
export async function drive(looks) {
  const seen = {};
  for (const [feature, look] of Object.entries(looks)) {
    try {
      seen[feature] = await look();
    } catch (error) {
      seen[feature] = { thrown: String(error?.message ?? error) };
    }
  }
  // Clients print remarks of their own; what was seen is the last line.
  process.stdout.write(`\n${JSON.stringify(seen)}`, () => process.exit(0));
}

/** Asks again until it is so. */
export async function until(isSo) {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (await isSo()) return true;
    await pause(PAUSE_MS);
  }
  return false;
}

/**
 * Cancels a call once the server has it, and says whether the server was told.
 * @param call calls a tool with arguments, and a signal or none; whatever it answers holds the text of the result
 */
export async function cancelHeld(call) {
  const key = randomUUID();
  const counts = async () => JSON.stringify(await call(named('counts'), { key })).replaceAll('\\', '');
  const stop = new AbortController();
  const holding = call(named('hold'), { key }, stop.signal).catch(() => undefined);
  await until(async () => (await counts()).includes('"held":true'));
  stop.abort();
  await holding;
  return until(async () => (await counts()).includes('"cancelled":true'));
}
