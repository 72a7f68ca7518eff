import type { Field } from '../field.ts';
import { type OptionShape, readOptions } from '../options.ts';
import type { Judgement } from '../report.ts';
import { harmOfWrite } from './paths.ts';
import { hasMatch, type Invocation, isAnywhere, type Rule, type RuleRows } from './rule-kit.ts';

/** Notes the files that are written, and speaks up where one of them must not be. */
function judgeTargets(targets: readonly (Field | undefined)[], { folder, writes }: Invocation): Judgement | undefined {
  let worst: Judgement | undefined;
  for (const target of targets) {
    if (target === undefined || target.text === '' || target.text === '-') continue;
    writes(target.text);
    const harm = isAnywhere(target) ? undefined : harmOfWrite(target.text, folder);
    if (harm !== undefined) worst ??= { ...harm, verdict: 'blocked', severe: true };
  }
  return worst;
}

const allOperands: Rule = (command) => judgeTargets(readOptions(command.args).operands, command);

const lastOperand =
  (shape: OptionShape): Rule =>
  (command) => {
    const options = readOptions(command.args, shape);
    const folder = options.value('-t', '--target-directory');
    const target = folder ?? (options.operands.length > 1 ? options.operands.at(-1) : undefined);
    // `cp x /etc/` writes into the folder.
    return judgeTargets([target], command);
  };

const inOption =
  (shape: OptionShape, ...names: readonly string[]): Rule =>
  (command) =>
    judgeTargets([readOptions(command.args, shape).value(...names)], command);

const edits =
  (flag: RegExp): Rule =>
  (command) => {
    if (!hasMatch(command.args, flag)) return undefined;
    return judgeTargets(readOptions(command.args).operands, command);
  };

/** Programs that write the files they are given. */
export const WRITE_RULES: RuleRows = [
  ['tee touch mkdir mkfifo mknod sponge unlink rmdir rm srm shred vipw', allOperands],
  [
    'truncate fallocate',
    (command) =>
      judgeTargets(
        readOptions(command.args, { valued: 'slorn', longValued: ['--size', '--reference', '--length'] }).operands,
        command,
      ),
  ],
  [
    'cp gcp mv gmv install rsync scp',
    lastOperand({ valued: 'tSgmoeF', longValued: ['--target-directory', '--mode', '--owner', '--group'] }),
  ],
  ['ln gln', lastOperand({ valued: 'tS', longValued: ['--target-directory'] })],
  [
    'curl',
    inOption(
      { valued: 'oXHdFuAbcetTKmwxreEyYzCQP', longValued: ['--output', '--dump-header', '--cookie-jar'] },
      '-o',
      '--output',
      '-D',
      '--dump-header',
    ),
  ],
  [
    'wget',
    inOption(
      { valued: 'OoPaieUQtTwl', longValued: ['--output-document', '--output-file', '--directory-prefix'] },
      '-O',
      '--output-document',
      '-P',
      '--directory-prefix',
      '-o',
    ),
  ],
  ['sort', inOption({ valued: 'oktST', longValued: ['--output'] }, '-o', '--output')],
  ['sed gsed', edits(/^(?:-[a-zA-Z]*i|--in-place)/)],
  ['perl ruby', edits(/^-[a-z]*i/)],
  ['tar bsdtar', inOption({ valued: 'CfTXbI', longValued: ['--directory', '--file'] }, '-C', '--directory')],
  ['unzip', inOption({ valued: 'd' }, '-d')],
  ['ssh-copy-id', () => ({ rule: 'writes-startup', why: 'it lets someone in', verdict: 'ask' })],
  ['patch vi vim nano ed ex emacs', allOperands],
  [
    'find',
    (command) =>
      judgeTargets(
        command.args.filter((_, at) => /^-f(?:print0?|printf|ls)$/.test(command.args[at - 1]?.text ?? '')),
        command,
      ),
  ],
];
