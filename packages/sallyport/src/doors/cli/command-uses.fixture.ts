import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { OPERATIONS, type OperationName } from '../../operations/catalogue.ts';
import { manifestOf } from '../tool-layer.fixture.ts';
import type { CliParts } from './cli-parts.ts';
import { createProgram } from './create-program.ts';
import { type CliBench, createCliBench } from './run-cli.fixture.ts';

/** A command without subcommands, and the words that name it. */
export interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

export const program = createProgram({ io: {}, version: '0' } as CliParts, false, () => undefined);
/** All commands without subcommands, with their names. */
export const commands = leaves(program).map((leaf) => [leaf.path.join(' '), leaf] as const);

/** Commands that send no request to a layer, or start a layer. */
const ALONE = ['serve', 'auth dev', 'mcp', 'doctor', 'config migrate', /^check /] as const;
/** Commands that send requests to a layer. */
export const asking = commands.filter(
  ([name]) => !ALONE.some((one) => (typeof one === 'string' ? one === name : one.test(name))),
);

/**
 * Values of arguments and options, by their name in the help; an argument that is not listed takes its name as its
 * value.
 */
const VALUES: Readonly<Record<string, string>> = {
  ...{ files: 'manifest.json', file: 'document.json', source: 'document.json', folder: 'skill' },
  url: 'http://a.example',
  thumbprint: 'A'.repeat(43),
  ...{ client: 'cursor', arguments: '{}', duration: '90s', tests: 'tests.json', from: '1.0.0', version: '1.0.0' },
};
/** Further arguments of commands that need more than their usage says. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  invoke: ['--token', 'agent'],
  'threads list': ['--token', 'agent'],
  'threads show': ['--token', 'agent'],
  'threads remove': ['--token', 'agent'],
  'upstreams add': ['--url', 'http://127.0.0.1:1/mcp'],
  'upstreams login': ['--redirected', 'http://127.0.0.1:1/callback?code=a&state=b'],
  'upstreams accept': ['tool'],
  'upstreams reject': ['tool'],
  'policy why': ['call-1'],
  'side-effects compensate': ['call-1'],
};
const VIEW = { name: 'word', agents: ['did:a'], conflict: 'prefix', sources: [{ source: 'local' }] };

/** A bench with the files that the commands read. */
export async function createUsesBench(): Promise<CliBench> {
  const bench = await createCliBench();
  bench.layer.addTool(manifestOf('word'), () => 'done');
  await bench.file('manifest.json', JSON.stringify(manifestOf('word')));
  await bench.file('document.json', JSON.stringify([VIEW]));
  await bench.file('tests.json', '[]');
  await mkdir(join(bench.folder, 'skill'));
  await bench.file('skill/SKILL.md', '---\nname: word\ndescription: Says a word.\n---\n');
  return bench;
}

/** The shortest right use of a command: its required arguments and options only. */
export function rightUse({ path, command }: Leaf): readonly string[] {
  const given = command.registeredArguments.filter(({ required }) => required).map((each) => wordFor(each.name()));
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, flags }) => [long ?? '', wordFor(/<(.+)>/.exec(flags)?.[1] ?? '')]);
  return [...path, ...given, ...options, ...(MORE[path.join(' ')] ?? [])];
}

/** A value for an argument or option with this name in the help. */
export const wordFor = (name: string): string => VALUES[name] ?? name.split('|')[0] ?? '';

/** Sets the answer of every operation of the bench's layer. */
export function answering(bench: CliBench, answer: (operation: OperationName) => unknown): void {
  for (const operation of Object.keys(OPERATIONS) as OperationName[])
    bench.layer.answers.set(operation, () => answer(operation));
}

/** A value that fits a schema, with required members only and with values that mean success. */
export function sample(schema: object): unknown {
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

/**
 * A value of a schema with all its members; each free text is `text`, and `good` chooses booleans and enumeration
 * values.
 */
export function filled(schema: object, text: string, good: boolean): unknown {
  const { type, properties, items = {}, anyOf, minimum, const: fixed, enum: words, format } = schema as Sampled;
  const inner = (each: object): unknown => filled(each, text, good);
  if (fixed !== undefined) return fixed;
  if (words !== undefined) return words.at(good ? 0 : -1);
  if (anyOf !== undefined) return inner(anyOf[0] ?? {});
  if (type === 'array') return [inner(items)];
  if (type === 'boolean') return good;
  if (type === 'integer' || type === 'number') return minimum ?? 1;
  if (type !== 'object') return format === 'date-time' ? '2026-01-01T00:00:00Z' : text;
  if (properties === undefined) return { [text]: inner(valuesOf(schema as Sampled)) };
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)]));
}

/** The schema of the values of an object whose members have no fixed names. */
const valuesOf = ({ patternProperties = {}, additionalProperties }: Sampled): object =>
  Object.values(patternProperties)[0] ?? (typeof additionalProperties === 'object' ? additionalProperties : {});

interface Sampled {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly patternProperties?: Readonly<Record<string, object>>;
  readonly additionalProperties?: object | boolean;
  readonly required?: readonly string[];
  readonly items?: object;
  readonly anyOf?: readonly object[];
  readonly minimum?: number;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
}

function leaves(command: Command, path: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}
