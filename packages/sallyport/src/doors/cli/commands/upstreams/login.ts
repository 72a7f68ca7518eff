import type { Command } from 'commander';
import type { UpstreamLoginResponse } from '../../../../../api/schemas/identity/upstream-authorization.ts';
import type { UpstreamAddResponse } from '../../../../../api/schemas/upstream.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { canAsk, firstLine } from '../../input/ask-consent.ts';
import { usageError } from '../../input/usage-error.ts';
import { printAdded } from './add.ts';
import { listenForRedirect } from './redirect-listener.ts';

/** Longest wait of one request for the end of a login, s. */
const WAIT_SECONDS = 30;

/** `upstreams login|logout`. */
export function addLoginCommands(upstreams: Command, kit: CommandKit): void {
  const login = upstreams
    .command('login')
    .description('log in at an upstream: prints a link, and waits until you have opened it')
    .argument('<name>')
    .option('--redirected <address>', 'the address that the link led to, where this command cannot listen for it');
  kit.asking<{ redirected?: string }>(login, async (work, [given], { redirected }) => {
    const name = String(given);
    printFinished(work, redirected === undefined ? await logIn(work, name) : await finish(work, name, redirected));
    return EXIT.ok;
  });
  const logout = upstreams
    .command('logout')
    .description('delete the tokens of a login at an upstream')
    .argument('<name>');
  kit.asking(logout, async ({ layer, caller, print }, [name]) => {
    const answer = await layer.ask('upstreams.logout', { name: String(name) }, caller);
    if (print.json) print.value(answer);
    else print.line(answer.had_tokens ? `Logged out at ${answer.name}` : `Nobody was logged in at ${answer.name}`);
    return EXIT.ok;
  });
}

/**
 * Prints the link and waits until it was opened. The address that it leads to comes to the layer, else to this command,
 * or is pasted by the person.
 */
async function logIn(work: CommandWork, name: string): Promise<UpstreamAddResponse> {
  const { layer, caller, print, parts } = work;
  const { io } = parts;
  const begun = await layer.ask('upstreams.login', { name }, caller);
  const listener = begun.layer_receives ? undefined : await listenForRedirect(begun);
  const ending = new AbortController();
  try {
    if (listener === undefined && !begun.layer_receives && !canAsk(io)) throw usageError(laterText(begun));
    print.note(`Open this link:\n${begun.login_url}`);
    if (canAsk(io)) print.note('If the page that it ends at cannot be shown, paste its address here:');
    const addresses = [listener?.redirected, canAsk(io) ? firstLine(io.stdin) : undefined, endOf(io.signal)];
    const ends = addresses.map((address) => address?.then((given) => finishWith(work, begun, given)));
    const received = begun.layer_receives ? endedByLayer(work, begun, ending.signal) : undefined;
    return await Promise.race([...ends, received].filter((end) => end !== undefined));
  } finally {
    ending.abort();
    await listener?.close();
  }
}

function finishWith(work: CommandWork, begun: UpstreamLoginResponse, given: string): Promise<UpstreamAddResponse> {
  const address = given.trim();
  if (address === '') throw usageError(laterText(begun));
  return finish(work, begun.name, address);
}

const finish = ({ layer, caller }: CommandWork, name: string, redirected_to: string): Promise<UpstreamAddResponse> =>
  layer.ask('upstreams.finish-login', { name, redirected_to }, caller);

/** Asks the layer until it has received the redirect. */
async function endedByLayer(
  { layer, caller }: CommandWork,
  { name, state }: UpstreamLoginResponse,
  signal: AbortSignal,
): Promise<UpstreamAddResponse> {
  for (;;) {
    const input = { name, state, wait_seconds: WAIT_SECONDS };
    const { waits, ...finished } = await layer.ask('upstreams.finish-login', input, { ...caller, signal });
    if (waits !== true) return finished;
  }
}

const laterText = ({ name, login_url }: UpstreamLoginResponse): string =>
  `Open this link: ${login_url}\nThen type, with the address that it led to: sallyport upstreams login ${name} --redirected ADDRESS`;

function endOf(signal: AbortSignal | undefined): Promise<string> | undefined {
  if (signal === undefined) return undefined;
  return new Promise((resolve) => {
    if (signal.aborted) resolve('');
    signal.addEventListener('abort', () => resolve(''), { once: true });
  });
}

function printFinished({ print }: CommandWork, finished: UpstreamAddResponse): void {
  if (print.json) print.value(finished);
  else {
    print.line(`Logged in at ${finished.upstream.name}`);
    printAdded(finished, print);
  }
}
