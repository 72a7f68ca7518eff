import type { Command } from 'commander';
import type { UpstreamAddResponse } from '../../../../../api/schemas/upstream.ts';
import type { UpstreamLoginResponse } from '../../../../../api/schemas/upstream-authorization.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { canAsk, firstLine } from '../../input/ask-consent.ts';
import { usageError } from '../../input/usage-error.ts';
import { printAdded } from './add.ts';
import { listenForRedirect } from './redirect-listener.ts';

/** `upstreams login|logout`. */
export function addLoginCommands(upstreams: Command, kit: CommandKit): void {
  const login = upstreams
    .command('login')
    .description('log in at an upstream: prints a link, and waits until you have opened it')
    .argument('<name>')
    .option('--redirected <address>', 'the address that the link led to, where this command cannot listen for it');
  kit.asking<{ redirected?: string }>(login, async (work, [given], { redirected }) => {
    const name = String(given);
    const address = redirected ?? (await openedLink(work, name));
    const finished = await work.layer.ask('upstreams.finish-login', { name, redirected_to: address }, work.caller);
    printFinished(work, finished);
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

/** Prints the link and waits for the address that it leads to: at the redirect address, or pasted by the person. */
async function openedLink({ layer, caller, print, parts }: CommandWork, name: string): Promise<string> {
  const begun = await layer.ask('upstreams.login', { name }, caller);
  const { io } = parts;
  const listener = await listenForRedirect(begun);
  try {
    const waits = [listener?.redirected, canAsk(io) ? firstLine(io.stdin) : undefined, endOf(io.signal)];
    const possible = waits.filter((wait) => wait !== undefined);
    if (listener === undefined && !canAsk(io)) throw usageError(laterText(begun));
    print.note(`Open this link:\n${begun.login_url}`);
    if (canAsk(io)) print.note('If the page that it ends at cannot be shown, paste its address here:');
    const address = (await Promise.race(possible)).trim();
    if (address === '') throw usageError(laterText(begun));
    return address;
  } finally {
    await listener?.close();
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
