import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { ToolErrorCategory } from '../../../api/schemas/error.ts';

/** A model's next step when nothing more is known of the error. */
export const BY_CATEGORY: Readonly<Record<ToolErrorCategory, string>> = {
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

/** Suggestions for rows that are more specific than their category. */
export const BY_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  E3002: 'Leave the version out, or name one that exists.',
  E3003: 'Use the version that the warning names.',
  E3004: 'Leave the version out, or use the tool that took its place.',
  E3006: 'Leave the version out, or widen the range.',
  E3102: 'Ask for less in one call.',
  E3106: 'Wait until one of your other calls has ended, then repeat this one.',
  E3109: 'Read what the tool said. Change the call, or try another way.',
  E3202: 'Ask for a new token; the same call may succeed with it.',
  E3211: 'Make no more tool calls in this session. Tell the user what is left to do.',
  E3215: 'Tell the user that the client must ask for the scope that the message names.',
  E3302: 'Tell the user that a credential is missing; nothing in the call can mend that.',
  E3307: 'Tell the user that the service refused the credential; nothing in the call can mend that.',
  E3401: 'The service is down. Go on without it, or come back later.',
  E3402: 'The service is down. Go on without it, or come back later.',
  E3404: 'The service is down. Go on without it, or come back later.',
  E3503: 'Give a plain value in place of the text that looks like an attack.',
  E3504: 'Give a plain value in place of the text that looks like an attack.',
  E3505: 'Give a plain value in place of the text that looks like an attack.',
  E3601: 'Look for the document under another name.',
  E3704: 'Read the state again, then decide anew.',
  E3802: 'If this is a new request, give it a new key; if not, use the first answer.',
  E3804: 'Do not repeat the call. Find out what it did first, with another tool or from the user.',
  E3807: 'Do not repeat the call. Tell the user that it was denied, and go on without it.',
  E3808: 'Nobody decided in time, which is no denial. Ask the user before you call again.',
  E3810: 'Send less: split the request, or shorten its values.',
  E3811: 'Repeat the same call.',
  E3813: 'Use another tool. An operator has to accept this one first.',
  E3821: 'Tell the user that the client did not answer what the tool asked it. Do not repeat the call.',
  E3901: 'Leave that option out, or try another way.',
};
