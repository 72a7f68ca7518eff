import { afterEach, beforeEach, expect, test } from 'vitest';
import { OPERATIONS } from '../../../operations/catalogue.ts';
import { answering, asking, createUsesBench, type Leaf, rightUse, sample, wordFor } from '../command-uses.fixture.ts';
import type { CliBench } from '../run-cli.fixture.ts';

/** Options that need or exclude another option, or that are not sent to the layer. */
const NOT_ALONE: Readonly<Record<string, readonly string[]>> = {
  'approvals approve': ['--always', '--for', '--any-agent', '--any-policy'],
  'approvals edit': ['--always', '--for', '--any-agent', '--any-policy'],
  'activations set': ['--burst'],
  'upstreams accept': ['--all'],
  'upstreams reject': ['--all'],
  'side-effects compensate': ['--turn', '--continue-on-failure'],
  'policy why': ['--question'],
};
/**
 * Commands that are written by hand and have their own tests: an option names a file, or several options make one
 * member.
 */
const BY_HAND = ['connect', 'invoke', 'tools add', 'upstreams add', 'upstreams import', 'audit', 'policy test'];
/** Each option of each command that is derived from its operation. */
const USES = asking
  .filter(([name]) => !BY_HAND.some((each) => `${name} `.startsWith(`${each} `)))
  .flatMap(([name, leaf]) =>
    leaf.command.options
      .filter(({ long, mandatory }) => !mandatory && !['--json', '--data-folder', '--follow'].includes(long ?? ''))
      .filter(({ long }) => NOT_ALONE[name]?.includes(long ?? '') !== true)
      .map((option) => [`${name} ${option.flags}`, leaf, option] as const),
  );

let bench: CliBench;
beforeEach(async () => {
  bench = await createUsesBench();
  answering(bench, (operation) => sample(OPERATIONS[operation].output));
});
afterEach(() => bench.remove());

/** The inputs and tokens of all requests of a run, as JSON. */
const askedOf = async (argv: readonly string[]): Promise<string> => {
  const before = bench.layer.asked.length;
  const { code, err } = await bench.run(argv, { stdin: 'word' });
  expect([code, err]).toEqual([0, expect.not.stringMatching(/E3\d{3}/)]);
  return JSON.stringify(bench.layer.asked.slice(before).map(({ input, caller }) => [input, caller.token]));
};

// The layer of the bench refuses input that does not fit the schema of the operation.
test.each(USES)('API-05 %s is asked for as the schema of the operation has it', async (_use, leaf, option) => {
  const value = option.isBoolean() || option.negate ? [] : [takenBy(option)];
  const use = rightUse(leaf);
  expect(await askedOf([...use, option.long ?? '', ...value])).not.toBe(await askedOf(use));
});

/** A value that the option accepts, found by the option's name in the help. */
function takenBy({ flags, long, parseArg }: Leaf['command']['options'][number]): string {
  const named = /<(.+)>/.exec(flags)?.[1] ?? '';
  const tried = [VALUES[long ?? ''] ?? wordFor(named), '7', '0.5', 'yes', ...CHOICES];
  return tried.find((each) => parseArg === undefined || takes(parseArg, each)) ?? '';
}

/** Values for options that accept only certain words. */
const CHOICES = ['catalog', 'agent', 'admin', 'trusted', 'rw', 'EXECUTING'];
/** Values for options whose layer accepts only certain words, where the help does not list them all. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ '--state': 'open', '--category': 'computation', '--executor': 'shell', '--since': '1h', '--until': '1h' },
  ...{ '--issued-before': '2026-01-01T00:00:00Z', '--digest': 'a'.repeat(64), '--arguments': '{}', '--mode': 'rw' },
  ...{ '--parameters': '{"a":1}', '--result': '[1]', '--version': '1.0.0', '--timeout-max': '9s' },
};

function takes(parse: (text: string, before: never) => unknown, text: string): boolean {
  try {
    parse(text, undefined as never);
    return true;
  } catch {
    return false;
  }
}
