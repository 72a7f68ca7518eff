import { type Command, Option } from 'commander';
import {
  OPERATIONS,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from '../../../operations/catalogue.ts';
import { EXIT, type WhenAbsent } from '../cli-parts.ts';
import type { AskingRun, CommandKit, CommandWork } from '../command-kit.ts';
import { readArguments } from '../input/read-json.ts';
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

/** An option of a command that is no member of its operation's input. */
export interface OwnOption<T> {
  readonly flags: string;
  readonly help: string;
  /** Absent of a flag. */
  readonly parse?: (text: string, before: never) => T;
}

/** An option without a value. */
export const flag = (flags: string, help: string): OwnOption<true> => ({ flags, help });

/** What own options were given, by their names. */
export type GivenOptions<Options> = {
  readonly [K in keyof Options]?: Options[K] extends OwnOption<infer T> ? T : never;
};

/** What was typed: members of the input, those that the row leaves out being absent, and own options. */
export type Given<N extends OperationName, Own> = OperationInput<N> & { readonly [K in keyof Own]?: Own[K] };

/** How one operation is a command. All that it does not say comes from the table of operations. */
export interface OperationRow<N extends OperationName, Own> {
  readonly command: string;
  /** Absent: the summary of the operation. */
  readonly help?: string;
  /** Members that are given by their place, in this order. Absent: those of the path. */
  readonly args?: readonly (keyof OperationInput<N> & string)[];
  /** Members that are given otherwise than their schema says: other flags, more, or not at all. */
  readonly members?: { readonly [M in keyof OperationInput<N>]?: string | MemberRow | false };
  readonly own?: { readonly [K in keyof Own]: OwnOption<Own[K]> };
  /** Absent: the members as they were given. */
  readonly input?: (given: Given<N, NoInfer<Own>>, work: CommandWork) => OperationInput<N> | Promise<OperationInput<N>>;
  /** Prints the answer for people. */
  readonly print: (answer: OperationOutput<N>, print: Printer, given: Given<N, NoInfer<Own>>) => void;
  /** Whether the answer is what was wanted; the exit code is 1 otherwise. Absent: it is. */
  readonly succeeded?: (answer: OperationOutput<N>) => boolean;
  /** What becomes of a data folder that there is not. Absent: it is refused. */
  readonly whenAbsent?: WhenAbsent;
}

/** Adds the command of one operation to a group. */
export type AddOperation = <N extends OperationName, Own = object>(name: N, row: OperationRow<N, Own>) => Command;

/** Members that are for programs. */
const FOR_PROGRAMS: ReadonlySet<string> = new Set(['agent_context', 'page_size']);

/** Makes commands of operations, in a group of them. */
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
    const run: AskingRun<Typed> = async (work, args, options) => {
      const given = {
        ...(await read(args, options, work)),
        ...picked(own.map(([key]) => [key, options[key]])),
      } as never;
      const asked = row.input === undefined ? given : await row.input(given, work);
      const answer = await work.layer.ask(name, asked, work.caller);
      if (work.print.json) work.print.value(answer);
      else row.print(answer, work.print, given);
      return row.succeeded?.(answer) === false ? EXIT.refused : EXIT.ok;
    };
    kit.adding(command, run, ({ dryRun }) => {
      const whenAbsent = row.whenAbsent ?? 'refuse';
      // What would be made can be said without a data folder.
      return whenAbsent === 'make' && dryRun === true ? 'borrow' : whenAbsent;
    });
    return command;
  };
}

type Typed = Readonly<Record<string, unknown>>;

/** Adds arguments and options, and gives back what reads them as members of the input. */
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

/** Without what was not given; a list of nothing is nothing. */
const picked = (entries: readonly (readonly [string, unknown])[]): Typed =>
  Object.fromEntries(
    entries.filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
