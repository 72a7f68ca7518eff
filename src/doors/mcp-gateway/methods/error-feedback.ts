import type { Fault, ToolErrorBody, ToolErrorCategory } from '../../../../api/schemas/error.ts';
import { ERRORS, type ErrorCode } from '../../../domain/error/catalogue.ts';
import { isObject } from '../../json-rpc.ts';

/** Most faults named to a model; the others it meets at its next try. */
const FAULTS_MAX = 8;

const SUGGESTIONS: Readonly<Record<ToolErrorCategory, string>> = {
  ToolNotFound: 'List the tools and use one of them.',
  InvalidParameters: "Change the arguments to fit the tool's input schema and call again.",
  TypeMismatch: "Change the arguments to the types of the tool's input schema and call again.",
  PolicyBlocked: 'Do not repeat the call. Use another tool, or ask the user for the permission.',
  ConfirmationRequired: 'Tell the user that the call waits for an approval.',
  PermanentFailure: 'Do not repeat the same call. Read the message and try another way.',
  Cancelled: 'Do not repeat the call unless the user asks for it.',
  RateLimited: 'Wait, then repeat the same call.',
  ServerError: 'Repeat the same call once; if it fails again, go on without it.',
  NetworkError: 'Repeat the same call once; if it fails again, go on without it.',
  Timeout: 'Ask for less in one call, or repeat it once.',
};

/**
 * An error as a model can act on it (MOD-01, 002). One line per member, so that foreign text in a message cannot pass for
 * another member. Quality failures count as retryable here: the model may try again with other arguments.
 */
export function toolErrorBlock(error: ToolErrorBody): string {
  return [
    '[tool_error]',
    `category: ${error.category}`,
    `message: ${oneLine(error.message)}`,
    `suggestion: ${oneLine(suggestionOf(error))}`,
    `retryable: ${error.retryable || isQualityFailure(error.e_code)}`,
  ].join('\n');
}

function suggestionOf(error: ToolErrorBody): string {
  const faults = faultsOf(error);
  if (faults.length > 0) {
    const named = faults.slice(0, FAULTS_MAX).map(({ path, message, hint }) => {
      return `${path === '' ? 'arguments' : path}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
    });
    const more = faults.length > FAULTS_MAX ? `; and ${faults.length - FAULTS_MAX} more` : '';
    return `${named.join('; ')}${more}`;
  }
  if (error.retryable && error.retry_after_ms !== undefined) {
    return `Wait ${Math.ceil(error.retry_after_ms / 1000)} s, then repeat the same call.`;
  }
  return SUGGESTIONS[error.category];
}

function faultsOf(error: ToolErrorBody): readonly Fault[] {
  const faults = error.details?.['faults'];
  return Array.isArray(faults) ? faults.filter((fault): fault is Fault => isObject(fault) && 'path' in fault) : [];
}

function isQualityFailure(code: string): boolean {
  return Object.hasOwn(ERRORS, code) && ERRORS[code as ErrorCode].quality;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
