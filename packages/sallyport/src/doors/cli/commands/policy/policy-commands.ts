import type { Command } from 'commander';
import type {
  ExplainedPolicy,
  PolicyExplanation,
  PolicyListRequest,
  PolicyListResponse,
  PolicyTestResponse,
  PolicyWhyResponse,
} from '../../../../../api/schemas/policy.ts';
import { EXIT } from '../../cli-parts.ts';
import type { AskingRun, CommandKit } from '../../command-kit.ts';
import { collect } from '../../input/option-values.ts';
import { readPolicyFiles } from '../../input/read-policy-files.ts';
import { usageError } from '../../input/usage-error.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';

/** `policy list|reload|test|why`. */
export function addPolicyCommands(program: Command, kit: CommandKit): void {
  const policy = program.command('policy').description('see, test and explain what policies decide');
  const operation = operationCommands(policy, kit);
  operation('policies.list', {
    command: 'list',
    help: 'the engines and their policies, and the state of the gate; exit code 1 when the newest files are not in force',
    succeeded: ({ engines }) => engines.every(({ fault }) => fault === undefined),
    print: printEngines,
  });
  operation('policies.reload', {
    command: 'reload',
    help: 'put the policy files in force now, and forget earlier decisions',
    print: ({ changed, engines }, print) => {
      print.line(changed ? 'The policies changed and are in force.' : 'The policies are as they were.');
      for (const { engine, mode, policies } of engines) print.line(`${engine} (${mode}): ${policies} policies`);
    },
  });
  addTestCommand(policy, kit);
  operation('policies.explain', {
    command: 'why',
    help: 'which policies decided on a call, and what would have to change',
    args: ['invocation_id'],
    members: { question: { help: QUESTION_HELP } },
    input: (given) => {
      if ((given.invocation_id === undefined) === (given.question === undefined))
        throw usageError('Name an invocation, or ask with --question, one of the two.');
      return given;
    },
    print: printExplanation,
  });
}

const QUESTION_HELP = 'a call that nobody made: {"principal","tool","context"}, @file, or - for standard input';

function printEngines(
  { engines, gate }: PolicyListResponse,
  print: Printer,
  { text = false }: PolicyListRequest,
): void {
  const rules = engines.flatMap((state) => state.policies.map((rule) => ({ ...rule, engine: state.engine })));
  for (const { engine, mode, version } of engines) print.line(`${engine} (${mode}), version ${version}`, 'strong');
  print.table(
    ['ENGINE', 'MODE', 'EFFECT', 'POLICY', 'LINE', ...(text ? ['TEXT'] : [])],
    rules.map(({ engine, mode, effect, name, line = '', text: written = '' }) => [
      engine,
      mode,
      effect,
      name,
      String(line),
      ...(text ? [written.replaceAll(/\s+/g, ' ')] : []),
    ]),
  );
  if (gate !== undefined) {
    const { model, policies, fail_open } = gate;
    const unanswered = fail_open ? 'runs (fail_open)' : 'is denied';
    print.line(`gate: ${model} judges by ${policies} policies; a call that it does not answer ${unanswered}`);
  }
  for (const { fault, left_out } of engines) {
    if (fault !== undefined) print.note(`Not in force since ${fault.since}: ${fault.message}`);
    for (const { message } of left_out) print.note(`Left out: ${message}`);
  }
}

interface TestOptions {
  readonly policies?: readonly string[];
}

function addTestCommand(policy: Command, kit: CommandKit): void {
  const test = policy
    .command('test')
    .description('run the tests of policies; nothing is put in force')
    .argument('[tests...]', "*.test.toml and *.test.json files, or folders with them; the layer's own when absent")
    .option(
      '--policies <path>',
      "file or folder of policies to test instead of the layer's own; several times",
      collect,
    );
  const run: AskingRun<TestOptions> = async ({ layer, caller, print, parts }, [tests], { policies }) => {
    const named = Array.isArray(tests) ? tests : [];
    const answer = await layer.ask(
      'policies.test',
      {
        ...(named.length === 0 ? {} : { tests: await readPolicyFiles(named, /\.test\.(?:toml|json)$/, parts.io) }),
        ...(policies === undefined
          ? {}
          : { policies: await readPolicyFiles(policies, /\.cedar$|(?:^|\.)rules\.toml$/, parts.io) }),
      },
      caller,
    );
    if (print.json) print.value(answer);
    else printTests(answer, print);
    return answer.failed === 0 && answer.faults.length === 0 ? EXIT.ok : EXIT.refused;
  };
  kit.adding(test, run, ({ policies }) => (policies === undefined ? 'refuse' : 'borrow'));
}

function printTests({ passed, failed, faults, cases }: PolicyTestResponse, print: Printer): void {
  for (const { message } of faults) print.line(message, 'bad');
  for (const one of cases) {
    if (!one.passed) print.line(`${one.file}: ${one.name}: ${one.message ?? `it is ${one.decided}`}`, 'bad');
  }
  const none = passed + failed === 0 && faults.length === 0;
  if (none) print.note('There are no tests. Put *.test.toml files beside the policies.');
  else print.line(`${passed} passed, ${failed} failed`, failed + faults.length === 0 ? 'good' : 'bad');
}

function printExplanation(
  { tool_id, allowed, ask, recorded, still_so, assumed, engines }: PolicyWhyResponse,
  print: Printer,
): void {
  const verdict = allowed ? 'allowed' : ask === true ? 'needs a confirmation' : 'denied';
  print.line(`${tool_id}: ${verdict}`, allowed ? 'good' : 'bad');
  if (recorded !== undefined) {
    print.line(`on record: ${recorded.policies.join(', ') || 'no policy permitted it'} (${recorded.engine})`);
    const { shadow } = recorded;
    if (shadow !== undefined)
      print.line(
        `in shadow: ${shadow.allowed ? 'allowed' : 'denied'} by ${shadow.policies.join(', ') || shadow.error || 'none'}`,
      );
    if (!still_so) print.note('The policies changed since; what follows is what those in force now say.');
  }
  for (const engine of engines) printEngine(engine, print);
  for (const assumption of assumed) print.note(assumption);
}

function printEngine(
  { engine, mode, allowed, error, decided, changes, reasons = [] }: PolicyExplanation,
  print: Printer,
): void {
  print.line(`${engine}${mode === 'shadow' ? ' (shadow)' : ''}: ${allowed ? 'allows' : 'denies'}`, 'strong');
  if (error !== undefined) print.line(`  ${error}`, 'bad');
  for (const one of decided) printPolicy(one, print);
  for (const reason of reasons) print.line(`  it says: ${reason}`);
  for (const change of changes) print.line(`  - ${change}`);
}

function printPolicy({ name, effect, file, line, text }: ExplainedPolicy, print: Printer): void {
  print.line(`  ${effect} by ${name}${file === undefined ? '' : ` (${file}:${line ?? 1})`}`);
  for (const each of text?.split('\n') ?? []) print.line(`      ${each}`);
}
