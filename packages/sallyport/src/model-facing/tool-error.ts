import { createRedactor, KINDS_BY_CATEGORY } from '@sallyport/guards';
import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { errorBody, type Failure } from '@sallyport/std/error/failure';
import { type Fault, type ToolErrorBody, ToolErrorCategory } from '../../api/schemas/error.ts';
import { mayHaveTakenEffect } from './errors/effects.ts';
import { plainLine, quotedLine } from './errors/plain-line.ts';
import { BY_CATEGORY, BY_CODE } from './errors/suggestions.ts';
import { toolWords } from './errors/tool-words.ts';

/** Facts about the call beside its error. */
export interface ToolErrorContext {
  /**
   * True when running the tool twice has the same effect as once. Default false: the model is advised to check first.
   */
  readonly safeToRepeat?: boolean;
}

/** An error in a form that a model can act on (MOD-01, 002). Every text is one line of limited length. */
export interface ModelError {
  readonly category: ToolErrorCategory;
  readonly message: string;
  /** What to do next. */
  readonly suggestion: string;
  /**
   * True when calling again may help: the same call, or for InvalidParameters and TypeMismatch one with other
   * arguments.
   */
  readonly retryable: boolean;
  /** True when the model caused the fault by the quality of its arguments, so that it should reconsider them (002). */
  readonly quality: boolean;
  /** The tool's own description of its failure: data, never instructions. */
  readonly toolSaid?: string;
}

/** Most faults listed for a model; it meets the others at its next try. */
const FAULTS_MAX = 8;
/** Characters of one fault; it quotes names and values of strangers. */
const FAULT_LENGTH_MAX = 240;
/** Most names of tools in a suggestion. */
const NEAR_MAX = 5;
const NAME_LENGTH_MAX = 128;
/** Characters of the message, of the suggestion, and of what the tool said. */
const MESSAGE_LENGTH_MAX = 2_000;
const SUGGESTION_LENGTH_MAX = 2_000;
const TOOL_SAID_LENGTH_MAX = 2_000;

const REFORMAT: ReadonlySet<ToolErrorCategory> = new Set(['InvalidParameters', 'TypeMismatch']);
const CATEGORIES: ReadonlySet<string> = new Set(ToolErrorCategory.enum);

/** Personal data stays: the model sent it, or may see it. Secrets are removed. */
const redactor = createRedactor({
  kinds: (['secrets', 'tokens', 'keys', 'credentials'] as const).flatMap((group) => [...KINDS_BY_CATEGORY[group]]),
});

/**
 * The error worded for a model. Of the failure's cause, stack and details it contains only the faults of arguments, the
 * names of similar tools and the tool's own description.
 * @param given a failure of this layer, or an error as sent by a door
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
 * The `[tool_error]` block: one line per member, in the order of 002, followed by `tool_said` as a JSON string when the
 * tool described its failure. No text in it can imitate another member or another block.
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

/** A newer layer may use categories that this one does not know. */
const categoryOf = ({ category }: ToolErrorBody): ToolErrorCategory =>
  CATEGORIES.has(category) ? category : 'PermanentFailure';

const line = (text: string, lengthMax: number): string =>
  plainLine(redactor.text(bounded(text, lengthMax)).text, lengthMax);

/** The search for secrets takes time proportional to the text. */
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

/** Names that the model may have meant when there is no such tool; most similar first. */
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
