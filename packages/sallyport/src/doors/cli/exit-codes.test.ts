import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Command } from 'commander';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OPERATIONS, type OperationName } from '../../operations/catalogue.ts';
import { manifestOf } from '../tool-layer.fixture.ts';
import { type CliParts, EXIT } from './cli-parts.ts';
import { createProgram } from './create-program.ts';
import { type CliBench, createCliBench } from './run-cli.fixture.ts';

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

const program = createProgram({ io: {}, version: '0' } as CliParts, false, () => undefined);
const groups = branches(program);
const commands = leaves(program).map((leaf) => [leaf.path.join(' '), leaf] as const);

/** Values of arguments and options, by what the help calls them; all others get a plain word. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ files: 'manifest.json', file: 'document.json', source: 'document.json', folder: 'skill' },
  ...{ client: 'cursor', arguments: '{}', duration: '90s', tests: 'tests.json', from: '1.0.0', version: '1.0.0' },
};
/** Arguments of commands whose usage does not say that they need them. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  invoke: ['--token', 'agent'],
  'upstreams add': ['--url', 'http://127.0.0.1:1/mcp'],
  'upstreams accept': ['tool'],
  'upstreams reject': ['tool'],
  'policy why': ['call-1'],
  'side-effects compensate': ['call-1'],
};
const VIEW = { name: 'word', agents: ['did:a'], conflict: 'prefix', sources: [{ source: 'local' }] };
/** What those find nothing in that judge their standard input. */
const STDIN: Readonly<Record<string, string>> = { command: 'ls', url: 'https://example.com' };
/** Commands that ask no layer, or are one. */
const ALONE = ['serve', 'mcp', 'doctor', /^check /] as const;
const asking = commands.filter(
  ([name]) => !ALONE.some((one) => (typeof one === 'string' ? one === name : one.test(name))),
);

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
  bench.layer.addTool(manifestOf('word'), () => 'done');
  await bench.file('manifest.json', JSON.stringify(manifestOf('word')));
  await bench.file('document.json', JSON.stringify([VIEW]));
  await bench.file('tests.json', '[]');
  await mkdir(join(bench.folder, 'skill'));
  await bench.file('skill/SKILL.md', '---\nname: word\ndescription: Says a word.\n---\n');
});
afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

/** Used as its help says, with nothing that may be left out. */
function rightUse({ path, command }: Leaf): readonly string[] {
  const given = command.registeredArguments.filter(({ required }) => required).map((each) => argumentOf(each.name()));
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, flags }) => [long ?? '', argumentOf(/<(.+)>/.exec(flags)?.[1] ?? '')]);
  return [...path, ...given, ...options, ...(MORE[path.join(' ')] ?? [])];
}

const argumentOf = (name: string): string => VALUES[name] ?? name.split('|')[0] ?? '';

/** Every operation answers so. */
function answering(answer: (operation: OperationName) => unknown): void {
  for (const operation of Object.keys(OPERATIONS) as OperationName[])
    bench.layer.answers.set(operation, () => answer(operation));
}

const optionsFor = (path: readonly string[]) => ({ stdin: STDIN[path.at(-1) ?? ''] ?? 'word' });

it.each(commands)('API-05 %s ends with 2 when it is used wrongly, and asks for nothing', async (_name, leaf) => {
  for (const wrong of wrongUses(leaf)) {
    const { code, err } = await bench.run([...leaf.path, ...wrong], optionsFor(leaf.path));
    expect([wrong, code, err === '']).toEqual([wrong, EXIT.usage, false]);
  }
  expect([bench.layer.asked, bench.started]).toEqual([[], []]);
});

it.each(asking)(
  'API-05 %s ends with 1 when it is refused, and with 3 when no layer can be asked',
  async (_name, leaf) => {
    const right = rightUse(leaf);
    const options = optionsFor(leaf.path);
    answering(() => {
      throw new ToolLayerError('E3213', 'Operators only.');
    });
    expect(await bench.run(right, options)).toMatchObject({
      code: EXIT.refused,
      err: expect.stringContaining('E3213'),
    });
    answering(() => {
      throw new ToolLayerError('E3310', 'No layer answers.', { details: { layer: 'unreachable' } });
    });
    expect((await bench.run(right, options)).code).toBe(EXIT.unreachable);
    bench.openError = new ToolLayerError('E3900', 'The data folder is in use by process 7.');
    expect(await bench.run(right, options)).toMatchObject({ code: EXIT.unreachable, out: '' });
  },
);

it.each(['serve', 'mcp'])('API-05 %s ends with 3 when the layer cannot be opened', async (name) => {
  bench.openError = new ToolLayerError('E3801', 'The settings have faults.', { details: { faults: ['a sentence'] } });
  const err = 'E3801 invalid_parameters: The settings have faults.\n';
  expect(await bench.run([name])).toEqual({ code: EXIT.unreachable, out: '', err });
});

it.each(commands)('API-05 %s ends with 0 when all went well, for people and for programs', async (name, leaf) => {
  answering((operation) => sample(OPERATIONS[operation].output));
  const options = name === 'approvals watch' ? { signal: AbortSignal.abort() } : optionsFor(leaf.path);
  for (const more of [[], ['--json']]) {
    const { code, err } = await bench.run([...rightUse(leaf), ...more], options);
    expect([code, err]).toEqual([EXIT.ok, expect.not.stringMatching(/E3\d{3}|error/)]);
  }
});

it.each(groups.map((path) => [path]))(
  'API-05 %j alone, and with a command that it has not, ends with 2',
  async (path) => {
    for (const more of [[], ['no-such-command']]) expect((await bench.run([...path, ...more])).code).toBe(EXIT.usage);
    expect(bench.layer.asked).toEqual([]);
  },
);

/** What no command takes: of each kind as many as its table of arguments and options says. */
function* wrongUses({ path, command }: Leaf): Generator<readonly string[]> {
  const right = rightUse({ path, command }).slice(path.length);
  const { registeredArguments, options } = command;
  yield [...right, '--no-such-option'];
  if (registeredArguments.some(({ required }) => required) || options.some(({ mandatory }) => mandatory)) yield [];
  if (!registeredArguments.some(({ variadic }) => variadic))
    yield [...registeredArguments.map((each) => argumentOf(each.name())), 'w', 'w'];
  for (const [at, each] of registeredArguments.entries()) {
    const wrong = wrongArgument(each.name());
    if (wrong !== undefined && each.required) yield right.with(at, wrong);
  }
  for (const { long, required, parseArg } of options) {
    if (required) yield [...right, long ?? ''];
    if (required && parseArg !== undefined && refuses(parseArg)) yield [...right, long ?? '', NO_VALUE];
  }
}

/** For arguments that name a file, choose among words, or say how long; undefined for the others, which take any word. */
function wrongArgument(name: string): string | undefined {
  if (name.includes('|') || name === 'duration' || name === 'arguments') return 'neither';
  return ['document.json', 'manifest.json', 'skill'].includes(argumentOf(name)) ? 'absent.json' : undefined;
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

/** A value that fits a schema, with nothing that may be left out, in which all is well. */
function sample(schema: object): unknown {
  const { type, properties, required = [], anyOf, minimum, const: fixed, enum: words } = schema as Sampled;
  if (fixed !== undefined) return fixed;
  if (words !== undefined) return words.includes('success') ? 'success' : words[0];
  if (anyOf !== undefined) return sample(anyOf[0] ?? {});
  if (type === 'array') return [];
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return minimum ?? 0;
  if (type === 'string') return 'word';
  return Object.fromEntries(required.map((name) => [name, sample(properties?.[name] ?? {})]));
}

interface Sampled {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly object[];
  readonly minimum?: number;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

function leaves(command: Command, path: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}

function branches(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  if (command.commands.length === 0) return [];
  return [path, ...command.commands.flatMap((each) => branches(each, [...path, each.name()]))];
}
