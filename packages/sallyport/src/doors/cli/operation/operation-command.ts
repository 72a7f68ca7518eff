import { type Command, Option } from 'commander';
import type { Caller } from '../../../domain/principal/principal.ts';
import {
  OPERATIONS,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from '../../../operations/catalogue.ts';
import { EXIT, type WhenAbsent } from '../cli-parts.ts';
import type { AskingRun, CommandKit, CommandWork } from '../command-kit.ts';
import { readArguments } from '../input/read-json.ts';
import { usageError } from '../input/usage-error.ts';
import type { Printer } from '../output/printer.ts';
import {
  argumentOf,
  asHelp,
  isJsonObject,
  type MemberRow,
  type MemberSchema,
  membersOf,
  optionOf,
} from './schema-options.ts';

/** An option of a command that is not a member of its operation's input. */
export interface OwnOption<T> {
  readonly flags: string;
  readonly help: string;
  /** Absent for flags. */
  readonly parse?: (text: string, before: never) => T;
}

/** An option without a value. */
export const flag = (flags: string, help: string): OwnOption<true> => ({ flags, help });

/** The given own options, by name. */
export type GivenOptions<Options> = {
  readonly [K in keyof Options]?: Options[K] extends OwnOption<infer T> ? T : never;
};

/** The typed values: members of the input (absent when the row leaves them out) and own options. */
export type Given<N extends OperationName, Own> = OperationInput<N> & { readonly [K in keyof Own]?: Own[K] };

/** How one operation becomes a command. Everything not said here comes from the table of operations. */
export interface OperationRow<N extends OperationName, Own> {
  readonly command: string;
  /** Default: the summary of the operation. */
  readonly help?: string;
  /** Members given as positional arguments, in this order. Default: the members in the path. */
  readonly args?: readonly (keyof OperationInput<N> & string)[];
  /** Members whose options differ from their schema: other flags, more values, or no option. */
  readonly members?: { readonly [M in keyof OperationInput<N>]?: string | MemberRow | false };
  readonly own?: { readonly [K in keyof Own]: OwnOption<Own[K]> };
  /** Default: the members as given. */
  readonly input?: (given: Given<N, NoInfer<Own>>, work: CommandWork) => OperationInput<N> | Promise<OperationInput<N>>;
  /** Prints the answer for people. */
  readonly print: (answer: OperationOutput<N>, print: Printer, given: Given<N, NoInfer<Own>>) => void;
  /** False makes the exit code 1. Default: always true. */
  readonly succeeded?: (answer: OperationOutput<N>) => boolean;
  /** Handling of a missing data folder. Default: refuse. */
  readonly whenAbsent?: WhenAbsent;
  /** The operation is about the asker's own: the command takes the token of an agent. */
  readonly asAgent?: true;
}

/** Adds the command of one operation to a group. */
export type AddOperation = <N extends OperationName, Own = object>(name: N, row: OperationRow<N, Own>) => Command;

/** Members meant for programs only. */
const FOR_PROGRAMS: ReadonlySet<string> = new Set(['agent_context', 'page_size']);

/** Adds the commands of operations to a group. */
export function operationCommands(group: Command, kit: CommandKit): AddOperation {
  return (name, row) => {
    const { summary, path, input } = OPERATIONS[name];
    const command = group.command(row.command).description(row.help ?? asHelp(summary));
    const placed: readonly string[] = row.args ?? [...path.matchAll(/\{(\w+)\}/g)].map(([, member = '']) => member);
    const read = addMembers(command, placed, membersOf(input), row.members ?? {});
    const own = Object.entries<OwnOption<unknown>>(row.own ?? {});
    for (const [, { flags, help, parse }] of own) {
      const option = new Option(flags, help);
      command.addOption(parse === undefined ? option : option.argParser(parse as (text: string) => unknown));
    }
    if (row.asAgent === true) command.option('--token <token>', 'capability token of the agent, or SALLYPORT_TOKEN');
    const run: AskingRun<Typed> = async (work, args, options) => {
      const caller = row.asAgent === true ? agentIn(work, options['token']) : work.caller;
      const given = {
        ...(await read(args, options, work)),
        ...picked(own.map(([key]) => [key, options[key]])),
      } as never;
      const asked = row.input === undefined ? given : await row.input(given, work);
      const answer = await work.layer.ask(name, asked, caller);
      if (work.print.json) work.print.value(answer);
      else row.print(answer, work.print, given);
      return row.succeeded?.(answer) === false ? EXIT.refused : EXIT.ok;
    };
    kit.adding(command, run, ({ dryRun }) => {
      const whenAbsent = row.whenAbsent ?? 'refuse';
      // A dry run needs no data folder to say what would be made.
      return whenAbsent === 'make' && dryRun === true ? 'borrow' : whenAbsent;
    });
    return command;
  };
}

function agentIn({ caller, parts }: CommandWork, given: unknown): Caller {
  const token = given ?? parts.io.env['SALLYPORT_TOKEN'];
  if (typeof token === 'string' && token !== '') return { ...caller, token };
  throw usageError('Say whose they are: give --token, or set SALLYPORT_TOKEN. "token mint" makes one for an agent.');
}

type Typed = Readonly<Record<string, unknown>>;

/** Adds arguments and options; returns a function that reads them as members of the input. */
function addMembers(
  command: Command,
  placed: readonly string[],
  { properties, required }: ReturnType<typeof membersOf>,
  rows: Readonly<Record<string, string | MemberRow | false | undefined>>,
) {
  const rowOf = (member: string): MemberRow => {
    const row = rows[member] ?? {};
    return typeof row === 'string' ? { flags: row } : row === false ? {} : row;
  };
  const isRequired = (member: string): boolean => rowOf(member).required ?? required.has(member);
  for (const member of placed)
    command.addArgument(argumentOf(member, schemaOf(properties, member), rowOf(member), isRequired(member)));
  const isShown = (member: string): boolean =>
    !placed.includes(member) && rows[member] !== false && (!FOR_PROGRAMS.has(member) || rows[member] !== undefined);
  const attributes = Object.keys(properties)
    .filter(isShown)
    .map((member) => {
      const option = optionOf(member, schemaOf(properties, member), rowOf(member), isRequired(member));
      command.addOption(option);
      return [member, option.attributeName()] as const;
    });
  return async (args: readonly unknown[], options: Typed, { parts }: CommandWork): Promise<Typed> => {
    const typed = [
      ...placed.map((member, at) => [member, args[at]] as const),
      ...attributes.map(([member, attribute]) => [member, options[attribute]] as const),
    ];
    const read = typed.map(
      async ([member, value]) =>
        [
          member,
          isJsonObject(schemaOf(properties, member)) && typeof value === 'string'
            ? await readArguments(value, parts.io)
            : value,
        ] as const,
    );
    return picked(await Promise.all(read));
  };
}

const schemaOf = (properties: Readonly<Record<string, MemberSchema>>, member: string): MemberSchema =>
  properties[member] ?? {};

/** Drops values that were not given; an empty list counts as not given. */
const picked = (entries: readonly (readonly [string, unknown])[]): Typed =>
  Object.fromEntries(
    entries.filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
