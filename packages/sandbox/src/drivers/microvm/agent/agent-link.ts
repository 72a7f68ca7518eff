import type { Duplex } from 'node:stream';
import { AGENT_PROTOCOL } from '../image/guest-programs.ts';
import { MICROVM_BOUNDS } from '../settings.ts';

/** The agent's report of the tool's end. */
export interface ToolEnd {
  /** Exit code; 128 and more for signals. */
  readonly status: number;
  readonly cpuMs: number;
  readonly memoryPeakBytes: number;
  readonly oomKills: number;
  readonly forksRefused: number;
}

/** The control channel of one guest. Everything that comes out of it is untrusted. */
export interface AgentLink {
  /** Resolves when the agent has answered. @throws Error when its protocol differs, or the channel ends */
  greet(): Promise<void>;
  /** Gives the agent its job. Resolves when the tool runs. @throws Error with the agent's message when it cannot */
  start(message: Uint8Array): Promise<void>;
  /** The agent's last report about the tool; undefined when the channel ended before. Never rejects. */
  readonly ended: Promise<ToolEnd | undefined>;
  /** Asks the agent to end the tool gracefully. */
  stop(): void;
}

const EXIT = /^exit (\d{1,3}) (\d{1,15}) (\d{1,15}) (\d{1,9}) (\d{1,9})$/;

export function agentLink(control: Duplex): AgentLink {
  const greeted = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<ToolEnd | undefined>();
  // They may not be awaited yet, and only one of them is rejected at an end.
  for (const { promise } of [greeted, started]) promise.catch(ignore);
  const fail = (why: string): void => {
    greeted.reject(new Error(why));
    started.reject(new Error(why));
    ended.resolve(undefined);
  };
  const receive = (line: string): void => {
    if (line === `hello ${AGENT_PROTOCOL}`) greeted.resolve();
    else if (line === 'started') started.resolve();
    else if (line.startsWith('failed ')) fail(line.slice('failed '.length));
    else if (EXIT.test(line)) {
      started.resolve();
      ended.resolve(toolEnd(line));
    } else fail('the agent of the guest says what the protocol does not know');
  };
  onLines(control, receive, () => fail('the guest ended without a word'));
  return {
    greet() {
      control.write(`hello ${AGENT_PROTOCOL}\n`);
      return greeted.promise;
    },
    start(message) {
      control.write(message);
      return started.promise;
    },
    ended: ended.promise,
    stop: () => void (control.writable && control.write('stop\n')),
  };
}

function onLines(control: Duplex, receive: (line: string) => void, over: () => void): void {
  let held = '';
  control.on('data', (part: Buffer) => {
    const lines = (held + part.toString('latin1')).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) receive(line);
    if (held.length > MICROVM_BOUNDS.agentLineBytesMax) control.destroy();
  });
  control.once('end', over).once('close', over).on('error', over);
  control.resume();
}

function toolEnd(line: string): ToolEnd {
  const [status = 0, cpuUs = 0, memoryPeakBytes = 0, oomKills = 0, forksRefused = 0] = (EXIT.exec(line) ?? [])
    .slice(1)
    .map(Number);
  return { status, cpuMs: cpuUs / 1000, memoryPeakBytes, oomKills, forksRefused };
}

function ignore(): void {}
