import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Command } from 'commander';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OPERATIONS } from '../../operations/catalogue.ts';
import { EXIT } from './cli-parts.ts';
import {
  answering,
  asking,
  commands,
  createUsesBench,
  type Leaf,
  program,
  rightUse,
  sample,
  wordFor,
} from './command-uses.fixture.ts';
import type { CliBench } from './run-cli.fixture.ts';

const groups = branches(program);
/** Standard input in which the `check` commands find nothing. */
const STDIN: Readonly<Record<string, string>> = { command: 'ls', url: 'https://example.com' };

let bench: CliBench;
beforeEach(async () => {
  bench = await createUsesBench();
});
afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

const optionsFor = (path: readonly string[]) => ({ stdin: STDIN[path.at(-1) ?? ''] ?? 'word' });

it.each(commands)('API-05.8 %s ends with 2 when it is used wrongly, and asks for nothing', async (_name, leaf) => {
  for (const wrong of wrongUses(leaf)) {
    const { code, err } = await bench.run([...leaf.path, ...wrong], optionsFor(leaf.path));
    expect([wrong, code, err === '']).toEqual([wrong, EXIT.usage, false]);
  }
  expect([bench.layer.asked, bench.started]).toEqual([[], []]);
});

it.each(asking)(
  'API-05.8 %s ends with 1 when it is refused, and with 3 when no layer can be asked',
  async (_name, leaf) => {
    const right = rightUse(leaf);
    const options = optionsFor(leaf.path);
    answering(bench, () => {
      throw new ToolLayerError('E3213', 'Operators only.');
    });
    expect(await bench.run(right, options)).toMatchObject({
      code: EXIT.refused,
      err: expect.stringContaining('E3213'),
    });
    answering(bench, () => {
      throw new ToolLayerError('E3310', 'No layer answers.', { details: { layer: 'unreachable' } });
    });
    expect((await bench.run(right, options)).code).toBe(EXIT.unreachable);
    bench.openError = new ToolLayerError('E3900', 'The data folder is in use by process 7.');
    expect(await bench.run(right, options)).toMatchObject({ code: EXIT.unreachable, out: '' });
  },
);

it.each(['serve', 'auth dev', 'mcp'])('API-05 %s ends with 3 when the layer cannot be opened', async (name) => {
  bench.openError = new ToolLayerError('E3801', 'The settings have faults.', { details: { faults: ['a sentence'] } });
  const err = 'E3801 invalid_parameters: The settings have faults.\n';
  expect(await bench.run(name.split(' '))).toEqual({ code: EXIT.unreachable, out: '', err });
});

it.each(commands)(
  'API-05.6 API-05.8 %s ends with 0 when all went well, for people and for programs',
  async (name, leaf) => {
    answering(bench, (operation) => sample(OPERATIONS[operation].output));
    const options = name === 'approvals watch' ? { signal: AbortSignal.abort() } : optionsFor(leaf.path);
    for (const more of [[], ['--json']]) {
      const { code, err } = await bench.run([...rightUse(leaf), ...more], options);
      expect([code, err]).toEqual([EXIT.ok, expect.not.stringMatching(/E3\d{3}|error/)]);
    }
  },
);

/** Some commands, and the operation that each of them asks for. */
const ASKED: Readonly<Record<string, string>> = {
  invoke: 'tools.invoke',
  'tools list': 'tools.list',
  'tools search': 'tools.search',
  'tools import openapi': 'tools.import-openapi',
  'tools check': 'tools.check',
  'tools deprecate': 'tools.deprecate',
  'token mint': 'tokens.mint',
  'approvals list': 'approvals.list',
  'approvals approve': 'approvals.approve',
  'audit tail': 'audit.query',
  'audit verify': 'audit.verify',
  'circuits list': 'circuits.list',
};

it('API-05.1 each of these commands asks for its operation, and there are serve and doctor', async () => {
  answering(bench, (operation) => sample(OPERATIONS[operation].output));
  const leaves = new Map(commands);
  for (const [name, operation] of Object.entries(ASKED)) {
    const before = bench.layer.asked.length;
    await bench.run(rightUse(leaves.get(name) ?? expect.fail(`there is no ${name}`)));
    expect([name, ...bench.layer.asked.slice(before).map((asked) => asked.operation)]).toContain(operation);
  }
  expect([...leaves.keys()]).toEqual(expect.arrayContaining(['serve', 'doctor']));
});

it.each(groups.map((path) => [path]))(
  'API-05 %j alone, and with a command that it has not, ends with 2',
  async (path) => {
    for (const more of [[], ['no-such-command']]) expect((await bench.run([...path, ...more])).code).toBe(EXIT.usage);
    expect(bench.layer.asked).toEqual([]);
  },
);

/** Wrong uses of a command, derived from its table of arguments and options. */
function* wrongUses({ path, command }: Leaf): Generator<readonly string[]> {
  const right = rightUse({ path, command }).slice(path.length);
  const { registeredArguments, options } = command;
  yield [...right, '--no-such-option'];
  if (registeredArguments.some(({ required }) => required) || options.some(({ mandatory }) => mandatory)) yield [];
  if (!registeredArguments.some(({ variadic }) => variadic))
    yield [...registeredArguments.map((each) => wordFor(each.name())), 'w', 'w'];
  for (const [at, each] of registeredArguments.entries()) {
    const wrong = wrongArgument(each.name());
    if (wrong !== undefined && each.required) yield right.with(at, wrong);
  }
  for (const { long, required, parseArg } of options) {
    if (required) yield [...right, long ?? ''];
    if (required && parseArg !== undefined && refuses(parseArg)) yield [...right, long ?? '', NO_VALUE];
  }
}

/**
 * A wrong value for an argument that is a file, a choice, a duration or JSON; undefined for one that takes any word.
 */
function wrongArgument(name: string): string | undefined {
  if (name.includes('|') || name === 'duration' || name === 'arguments') return 'neither';
  return ['document.json', 'manifest.json', 'skill'].includes(wordFor(name)) ? 'absent.json' : undefined;
}

const NO_VALUE = '\u0001';
function refuses(parse: (text: string, before: never) => unknown): boolean {
  try {
    parse(NO_VALUE, undefined as never);
    return false;
  } catch {
    return true;
  }
}

function branches(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  if (command.commands.length === 0) return [];
  return [path, ...command.commands.flatMap((each) => branches(each, [...path, each.name()]))];
}
