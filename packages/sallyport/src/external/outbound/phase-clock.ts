import type { IncomingMessage } from 'node:http';
import type { EgressTarget } from '../egress-guard.ts';
import { type Phase, tooSlow } from './network-failures.ts';
import type { OutboundTimes } from './settings.ts';

/** The timer of one request. */
export interface PhaseClock {
  enter(phase: Phase): void;
  /** Restarts the timer for every part of a body. */
  watch(message: IncomingMessage): IncomingMessage;
  end(): void;
}

/** Runs one timer for the current phase of a request. */
export function phaseClock(times: OutboundTimes, to: EgressTarget, stop: (reason: Error) => void): PhaseClock {
  const lengths: Readonly<Record<Phase, number>> = {
    connect: times.connectMs,
    answer: times.answerMs,
    silence: times.silenceMs,
  };
  const start = (phase: Phase): NodeJS.Timeout | undefined => {
    const ms = lengths[phase];
    return ms === 0 ? undefined : setTimeout(() => stop(tooSlow(phase, ms, to)), ms);
  };
  let timer = start('connect');
  let isOver = false;
  return {
    enter(phase: Phase): void {
      if (isOver) return;
      clearTimeout(timer);
      timer = start(phase);
    },
    // Listening for 'data' would start the flow, so incoming chunks are observed instead.
    watch(message: IncomingMessage): IncomingMessage {
      const push = message.push.bind(message);
      message.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
        if (!isOver) timer?.refresh();
        return push(chunk, encoding);
      };
      return message;
    },
    end(): void {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
