import type { Report } from '../finding.ts';
import { callsOneOf } from '../text/calls-one-of.ts';
import type { Reading } from '../text/reading.ts';
import { SIGN } from '../text/signs.ts';
import { FACT } from '../text/word-facts.ts';
import { detectTemplate } from './detect-template.ts';
import { COMMAND } from './names.ts';
import { readCommand } from './read-command.ts';
import { isAlone, isAssignment, isProseBefore } from './surroundings.ts';

/** Files whose content shows that a command ran. */
const SENSITIVE =
  /\b(?:cat|more|less|head|tail|tac|nl|type|cp|grep|strings)\s[^\n]{0,40}(?:\/etc\/(?:passwd|shadow|group|hosts|issue|sudoers)|\/proc\/(?:self|version|cpuinfo)|boot\.ini|win\.ini|\\repair\\(?:sam|system)|\\system32\\config)/i;
/** As above, in a function call. */
const SENSITIVE_CALL = /\w\(\s{0,4}["'](?:file:\/\/)?\/etc\/(?:passwd|shadow|group|hosts|sudoers)\b/i;
/** Commands that open a machine to others. */
const OPENS =
  /\bnet1?\s+(?:user|localgroup)\s[^\n]{1,80}\/add\b|\bnetsh\s[^\n]{0,20}firewall\s[^\n]{0,40}(?:disable|off)\b|\bfDenyTSConnections\b/i;
/** A shell whose other end somebody else controls. */
const REVERSE_SHELL =
  /\/dev\/(?:tcp|udp)\/|\bnc(?:at)?\b[^\n]{0,60}\s-[a-z]{0,8}[ec]\b|\bsh\s+-i\b|\bbash\s+-i\b|\bmkfifo\s[^\n]{0,80}\|/i;
/** Not the body of a function of JavaScript. */
const SHELLSHOCK = /(?<!\bfunction\s{0,4}[\w$]{0,40}\s{0,2})\(\)\s{0,8}\{\s{0,8}:?[^\n]{0,16};\s{0,8}\}\s{0,8};/;
const SERVER_SIDE =
  /<\?(?:php|=)[^\n]{0,200}\(|<!--#(?:exec|include)|\$\{@?(?:print|eval|system|sleep|phpinfo)\b|\{\s{0,4}\$\{/i;
/** Functions of scripting languages that start a program or run a text. */
const EXECUTES =
  /(?:^|[^\w.$>])(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec|assert|eval|phpinfo|phpversion|os\.system|subprocess\.\w{1,16}|runtime\.getruntime)\s{0,8}\((?!\)`)/i;
/** The last parts of their names; `subprocess` has several. */
const EXECUTING: ReadonlySet<string> = new Set(
  (
    'system exec shell_exec passthru popen proc_open pcntl_exec assert eval phpinfo phpversion getruntime call ' +
    'check_call check_output run'
  ).split(' '),
);
/** An option of a well-known program that names a program to run, as a value of its own. */
const OPTION =
  /^-{1,2}(?:o\s?(?:proxy|local)command|upload-pack|receive-pack|checkpoint-action|use-compress-program|to-command)[= ]\S/i;
/** The value continues as the name of a file to be written, in a folder of the system. */
const WRITES = /^[\w.-]{0,40}\s?>{1,2}\s?\/(?:etc|var|tmp|home|root|usr|srv|opt|dev\/shm)\/\S/;
/** A quote and a blank at the beginning: the value leaves its argument. */
const QUOTED = /^["'] +(?=\w)/;

/** Looks for evidence in the text as a whole, whatever separates it: for values, not documents. */
export function detectExecution(reading: Reading, strict: boolean, report: Report): void {
  const { text, signs, facts } = reading;
  if ((facts & FACT.reaches) !== 0 && (signs & (SIGN.slash | SIGN.other)) !== 0 && mayReach(text)) {
    reportMatch(text, 'reverse_shell', REVERSE_SHELL, report);
  }
  if ((signs & SIGN.open) !== 0) execution(reading, strict, report);
  if ((signs & (SIGN.less | SIGN.bracket)) !== 0) reportMatch(text, 'server_side', SERVER_SIDE, report);
  if ((signs & (SIGN.less | SIGN.bracket | SIGN.open)) !== 0) {
    // What follows a number sign is a comment of SQL, whose words may not have been read.
    detectTemplate(text, (facts & FACT.reflects) !== 0 || text.includes('#'), report);
  }
  if ((signs & (SIGN.equals | SIGN.shell)) === (SIGN.equals | SIGN.shell) && isAssignment(reading, 0)) {
    report('separated_assignment', 0, text.length);
  }
  if ((signs & SIGN.quote) !== 0) quoted(reading, report);
  if ((signs & SIGN.other) !== 0 && text.startsWith('-')) reportMatch(text, 'option', OPTION, report);
  if ((signs & SIGN.slash) !== 0 && text.includes('>')) reportMatch(text, 'written_file', WRITES, report);
  if ((signs & (SIGN.slash | SIGN.escape)) !== 0) sensitive(reading, strict, report);
}

function reportMatch(text: string, rule: string, pattern: RegExp, report: Report): void {
  const found = pattern.exec(text);
  if (found !== null) report(rule, found.index, found.index + found[0].length);
}

/** Without one of these the pattern cannot match; searching for them costs next to nothing. */
function mayReach(text: string): boolean {
  if (
    text.includes(' -') &&
    (text.includes('nc ') || text.includes('ncat') || text.includes('sh -') || text.includes('sh  -'))
  )
    return true;
  return text.includes('/dev/') || text.includes('mkfifo ');
}

function execution(reading: Reading, strict: boolean, report: Report): void {
  const { text } = reading;
  const shock = text.includes('()') ? SHELLSHOCK.exec(text) : null;
  if (shock !== null) report('shellshock', shock.index, shock.index + shock[0].length);
  const isCalled = (reading.facts & FACT.runs) !== 0 && callsOneOf(reading, EXECUTING);
  const executes = isCalled ? EXECUTES.exec(text) : null;
  if (executes !== null && (strict || isAtBoundary(text, executes.index)))
    report('execution', executes.index, text.length);
}

/** At the beginning, or after the end of a statement. */
function isAtBoundary(text: string, index: number): boolean {
  return index === 0 || /[;&|'"`{@]\s{0,8}$/.test(text.slice(Math.max(0, index - 8), index + 1));
}

function quoted(reading: Reading, report: Report): void {
  const { text } = reading;
  const found = QUOTED.exec(text);
  const command = found === null ? undefined : readCommand(reading, found[0].length);
  if (command?.kind === COMMAND.plain && isAlone(text, command.end)) report('quoted_command', 0, command.end);
}

/** Without a part of these names the pattern cannot match; each begins with a rare character. */
function namesFile(text: string): boolean {
  return /\/(?:etc|proc)\//i.test(text) || /\.ini/i.test(text) || /\\(?:repair|system32)\\/i.test(text);
}

function sensitive({ text, signs, facts }: Reading, strict: boolean, report: Report): void {
  const opens = (facts & FACT.opens) !== 0 ? OPENS.exec(text) : null;
  if (opens !== null) report('opened_machine', opens.index, opens.index + opens[0].length);
  const isCalled = (facts & FACT.settings) !== 0 && (signs & SIGN.open) !== 0;
  const call = isCalled ? SENSITIVE_CALL.exec(text) : null;
  if (call !== null) report('sensitive_file', call.index, call.index + call[0].length);
  const found = (facts & FACT.shows) !== 0 && namesFile(text) ? SENSITIVE.exec(text) : null;
  if (found === null || (!strict && isProseBefore(text, found.index))) return;
  report('sensitive_file', found.index, found.index + found[0].length);
}
