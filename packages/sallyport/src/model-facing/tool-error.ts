import { createRedactor, KINDS_BY_CATEGORY } from '@sallyport/guards';
import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { errorBody, type Failure } from '@sallyport/std/error/failure';
import { type Fault, type ToolErrorBody, ToolErrorCategory } from '../../api/schemas/error.ts';
import { mayHaveTakenEffect } from './errors/effects.ts';
import { plainLine, quotedLine } from './errors/plain-line.ts';
import { BY_CATEGORY, BY_CODE } from './errors/suggestions.ts';
import { toolWords } from './errors/tool-words.ts';

/** What is known of the call beside its error. */
export interface ToolErrorContext {
  /** Whether running the tool twice is as good as once. Absent counts as no: the model is told to look first. */
  readonly safeToRepeat?: boolean;
}

/** An error as a model can act on it (MOD-01, 002). Every text is one line and bounded. */
export interface ModelError {
  readonly category: ToolErrorCategory;
  readonly message: string;
  /** What to do next. */
  readonly suggestion: string;
  /** Whether calling again may help: the same call, or for InvalidParameters and TypeMismatch one with other arguments. */
  readonly retryable: boolean;
  /** Whether the model made the fault by the quality of its arguments, so that it is worth thinking over (002). */
  readonly quality: boolean;
  /** What the tool itself said of its failure: data, never instructions. */
  readonly toolSaid?: string;
}

/** Most faults named to a model; the others it meets at its next try. */
const FAULTS_MAX = 8;
/** Characters of one fault; it quotes names and values of strangers. */
const FAULT_LENGTH_MAX = 240;
/** Names of tools in a suggestion. */
const NEAR_MAX = 5;
const NAME_LENGTH_MAX = 128;
/** Characters of the message, of the suggestion, and of what the tool said. */
const MESSAGE_LENGTH_MAX = 2_000;
const SUGGESTION_LENGTH_MAX = 2_000;
const TOOL_SAID_LENGTH_MAX = 2_000;

const REFORMAT: ReadonlySet<ToolErrorCategory> = new Set(['InvalidParameters', 'TypeMismatch']);
const CATEGORIES: ReadonlySet<string> = new Set(ToolErrorCategory.enum);

/** What people wrote of one another stays: the model sent it, or may see it. Secrets never. */
const redactor = createRedactor({
  kinds: (['secrets', 'tokens', 'keys', 'credentials'] as const).flatMap((group) => [...KINDS_BY_CATEGORY[group]]),
});

/**
 * The error in the words for a model. Of the failure's cause, stack and details nothing is told but the faults of
 * arguments, the names of near tools and what the tool said itself.
 * @param given a failure of this layer, or an error as a door has it
 */
export function toolErrorOf(given: Failure | ToolErrorBody, context: ToolErrorContext = {}): ModelError {
  const error = 'failed' in given ? errorBody(given) : given;
  const category = categoryOf(error);
  const row = Object.hasOwn(ERRORS, error.e_code) ? ERRORS[error.e_code as ErrorCode] : undefined;
  const said = toolWords(error);
  return {
    category,
    message: line(error.message, MESSAGE_LENGTH_MAX),
    suggestion: line(suggestionOf(error, category, context), SUGGESTION_LENGTH_MAX),
    retryable: error.retryable === true || REFORMAT.has(category),
    quality: row?.quality ?? false,
    ...(said === undefined ? {} : { toolSaid: line(said, TOOL_SAID_LENGTH_MAX) }),
  };
}

/**
 * The `[tool_error]` block: one line for each member, in the order of 002, and behind them `tool_said` as a JSON string
 * where the tool itself said something. No text in it can pass for another member or another block.
 */
export function toolErrorText(given: Failure | ToolErrorBody, context: ToolErrorContext = {}): string {
  const { category, message, suggestion, retryable, toolSaid } = toolErrorOf(given, context);
  return [
    '[tool_error]',
    `category: ${category}`,
    `message: ${message}`,
    `suggestion: ${suggestion}`,
    `retryable: ${retryable}`,
    ...(toolSaid === undefined ? [] : [`tool_said: ${quotedLine(toolSaid, TOOL_SAID_LENGTH_MAX)}`]),
  ].join('\n');
}

/** A newer layer elsewhere may know categories that this one does not. */
const categoryOf = ({ category }: ToolErrorBody): ToolErrorCategory =>
  CATEGORIES.has(category) ? category : 'PermanentFailure';

const line = (text: string, lengthMax: number): string =>
  plainLine(redactor.text(bounded(text, lengthMax)).text, lengthMax);

/** Looking for secrets in a text takes time that grows with it. */
const bounded = (text: string, lengthMax: number): string => text.slice(0, lengthMax * 4);

function suggestionOf(error: ToolErrorBody, category: ToolErrorCategory, context: ToolErrorContext): string {
  const faults = faultsOf(error);
  if (faults.length > 0 && REFORMAT.has(category)) return faultsInWords(faults);
  const { safeToRepeat = false } = context;
  const near = namesIn(error);
  if (category === 'ToolNotFound' && near.length > 0) return nearInWords(near);
  if (!safeToRepeat && mayHaveTakenEffect(error)) {
    return 'It may have taken effect all the same: find out before you repeat it.';
  }
  if (error.retryable && error.retry_after_ms !== undefined) {
    return `Wait ${Math.ceil(error.retry_after_ms / 1000)} s, then repeat the same call.`;
  }
  return (
    (Object.hasOwn(BY_CODE, error.e_code) ? BY_CODE[error.e_code as ErrorCode] : undefined) ?? BY_CATEGORY[category]
  );
}

function faultsInWords(faults: readonly Fault[]): string {
  const named = faults.slice(0, FAULTS_MAX).map(({ path, message, hint }) => {
    const words = `${path === '' ? 'arguments' : path}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
    return plainLine(words, FAULT_LENGTH_MAX);
  });
  const more = faults.length > FAULTS_MAX ? `; and ${faults.length - FAULTS_MAX} more` : '';
  return `${named.join('; ')}${more}`;
}

const nearInWords = (names: readonly string[]): string =>
  `Did you mean ${names
    .slice(0, NEAR_MAX)
    .map((name) => plainLine(name, NAME_LENGTH_MAX))
    .join(', or ')}? Otherwise list the tools and use one of them.`;

/** Names that the model could have meant when there is no such tool; the nearest first. */
function namesIn({ details }: ToolErrorBody): readonly string[] {
  const names = details?.['did_you_mean'];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

function faultsOf({ details }: ToolErrorBody): readonly Fault[] {
  const faults = details?.['faults'];
  return Array.isArray(faults) ? faults.filter(isFault) : [];
}

const isFault = (value: unknown): value is Fault => {
  const { path, message } = (value ?? {}) as Partial<Record<keyof Fault, unknown>>;
  return typeof path === 'string' && typeof message === 'string';
};
