import { EXIT, type ServeOptions } from '../../doors/cli/cli-parts.ts';
import { createToolLayer } from '../create-tool-layer.ts';
import { settingsOf } from '../open-layer.ts';
import { type Server, serve } from '../serve.ts';
import type { Settings } from '../settings.ts';
import { rememberLayer } from './last-layer.ts';

/** What the command `serve` is run with. */
export interface ServeStreams {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Writes for the person who started it. */
  write(text: string): void;
}

/** Opens a layer and its doors until the signal. @returns the exit code */
export async function serveUntilStopped(options: ServeOptions, { signal, write }: ServeStreams): Promise<number> {
  await using layer = await createToolLayer({ settings: settingsOfServe(options), withReferenceServers: true });
  await using server = await serve(layer);
  await rememberLayer(layer.settings.data_folder);
  write(`Sallyport is ready at ${server.url}\n`);
  if (server.development !== undefined) write(loginNotice(server.url, server.development, options.authorizes));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.ok;
}

/** The settings that the options of the command set. */
export const settingsOfServe = ({ host, port, authorizes, ...options }: ServeOptions): Partial<Settings> => ({
  ...settingsOf(options),
  ...(host === undefined ? {} : { 'server.host': host }),
  ...(port === undefined ? {} : { 'server.port': port }),
  ...(authorizes === undefined ? {} : { 'auth.dev': authorizes }),
});

/** Only the command that is run by a person shows the code: what a service prints may be kept in a log. */
export function loginNotice(
  url: string,
  { loginCode, loginCodeFile, users }: NonNullable<Server['development']>,
  isShown: boolean | undefined,
): string {
  return `For development: MCP clients connect to ${url}/mcp, and ${users.join(' or ')} logs in in the browser.
Login code: ${isShown === true ? loginCode : `in ${loginCodeFile}`}
`;
}
