import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { EndedCall, OngoingCall } from '../ongoing/ongoing-call.ts';

/**
 * Moves a call to its next state; resolves once everything that must be durable before that is written (system design
 * §4).
 */
export type EnterState = (state: LifecycleState) => Promise<void> | undefined;

/** Takes a call to its end. */
export type Runner = (ongoing: OngoingCall, enter: EnterState) => Promise<EndedCall>;

/** A concern of every call, laid around the whole list of stages. */
export type Wrapper = (next: Runner) => Runner;
