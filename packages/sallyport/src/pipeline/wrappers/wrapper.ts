import type { EndedCall, OngoingCall } from '../ongoing/ongoing-call.ts';

/** Takes a call to its end. */
export type Runner = (ongoing: OngoingCall) => Promise<EndedCall>;

/** Something that concerns every call, laid around the whole list of stages. */
export interface Wrapper {
  readonly name: string;
  wrap(next: Runner): Runner;
}
