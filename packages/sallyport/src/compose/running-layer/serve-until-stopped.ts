import { EXIT, type ServeOptions } from '../../doors/cli/cli-parts.ts';
import { createToolLayer } from '../create-tool-layer.ts';
import { settingsOf } from '../open-layer.ts';
import { type Server, serve } from '../serve.ts';
import { rememberLayer } from './last-layer.ts';

/** What the command `serve` is run with. */
export interface ServeStreams {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Writes for the person who started it. */
  write(text: string): void;
}

/** Opens a layer and its doors until the signal. @returns the exit code */
export async function serveUntilStopped(
  { host, port, authorizes, ...options }: ServeOptions,
  { signal, write }: ServeStreams,
): Promise<number> {
  const settings = {
    ...settingsOf(options),
    ...(host === undefined ? {} : { 'server.host': host }),
    ...(port === undefined ? {} : { 'server.port': port }),
    ...(authorizes === undefined ? {} : { 'auth.dev': authorizes }),
  };
  await using layer = await createToolLayer({ settings, withReferenceServers: true });
  await using server = await serve(layer);
  await rememberLayer(layer.settings.data_folder);
  write(`Sallyport is ready at ${server.url}\n`);
  if (server.development !== undefined) write(loginNotice(server.url, server.development, authorizes));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.ok;
}

/** Only the command that is run by a person shows the code: what a service prints may be kept in a log. */
function loginNotice(
  url: string,
  { loginCode, loginCodeFile, users }: NonNullable<Server['development']>,
  isShown = false,
): string {
  return `For development: MCP clients connect to ${url}/mcp, and ${users.join(' or ')} logs in in the browser.
Login code: ${isShown ? loginCode : `in ${loginCodeFile}`}
`;
}
