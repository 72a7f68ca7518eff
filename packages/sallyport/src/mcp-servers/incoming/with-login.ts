import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import type { ClientAsker, UrlQuestion } from '../../domain/questions/client-question.ts';
import { type ElicitationAuthor, elicitationIdOf } from '../../domain/questions/elicitation-id.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { UpstreamCallOptions } from '../connection/supervised-parts.ts';
import { holderOf } from '../http/authorization/holder.ts';
import type { UpstreamLogins } from '../upstream-logins.ts';
import { MAY_ASK_BY_DEFAULT } from './questions.ts';

/** JSON-RPC error of MCP 2025-11-25: the user has to open an address first. */
const URL_ELICITATION_REQUIRED = -32_042;

/** Dependencies of the question for a login. */
export interface LoginQuestionParts {
  readonly clients: ClientAsker;
  readonly logins: Pick<UpstreamLogins, 'expect'>;
}

/** The upstream that is called. */
export interface CalledUpstream {
  readonly tenantId: string;
  readonly definition: UpstreamDefinition;
}

/**
 * Calls, and where the upstream needs the caller's login, asks the calling client to open its link (EXE-07). A session is
 * answered with an error that has the link, and its client repeats the request; any other client is asked within the
 * call, which is sent again after the login.
 * @throws what `attempt` throws; for a session E3311 with `rpc_code` -32042
 */
export async function withLogin<Result>(
  parts: LoginQuestionParts,
  { tenantId, definition }: CalledUpstream,
  options: UpstreamCallOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt();
  } catch (caught) {
    const thrown = withOwnIds(caught, { tenantId, upstream: definition.name });
    const { client, caller, invocationId } = options;
    const { clients, logins } = parts;
    const asked = questionFor(thrown, definition);
    if (asked === undefined) throw thrown;
    if (client === undefined || caller === undefined || invocationId === undefined || !opensLinks(client.can))
      throw thrown;
    using expected = await logins.expect(tenantId, definition, holderOf(caller.principal));
    if (client.session !== undefined) throw withLink(thrown, asked);
    const until = options.signal ?? new AbortController().signal;
    const whileAsking = options.whileAsking ?? ((ask) => ask());
    const author = { kind: 'layer' as const, name: definition.name };
    const question = { tenantId, author, invocationIds: [invocationId], asked, whileAsking };
    const answer = await clients.ask(question, until);
    if (!('result' in answer) || answer.result['action'] !== 'accept') throw thrown;
    await whileAsking(() => expected.finished(until));
    clients.completed(asked.elicitationId);
    return await attempt();
  }
}

/** The question for a login that the error asks for; undefined for any other error, and where no person may be asked. */
function questionFor(thrown: unknown, { name, may_ask: mayAsk }: UpstreamDefinition) {
  const allowed: readonly string[] = mayAsk ?? MAY_ASK_BY_DEFAULT;
  if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3311') return undefined;
  if (!allowed.includes('elicitation')) return undefined;
  const url = thrown.failure.details?.['login_url'];
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const message = `The server ${name} needs your login at ${new URL(url).host}. Open the link to log in there.`;
  const elicitationId = elicitationIdOf('login', new URL(url).searchParams.get('state'));
  return { kind: 'elicitation', mode: 'url', message, url, elicitationId } as const satisfies UrlQuestion;
}

function opensLinks({ elicitation }: Readonly<Record<string, unknown>>): boolean {
  return isObject(elicitation) && isObject(elicitation['url']);
}

function withLink(thrown: unknown, { message, url, elicitationId }: UrlQuestion): ToolLayerError {
  const { message: said, failure } = thrown as ToolLayerError;
  const elicitations = [{ mode: 'url', message, url, elicitationId }];
  const details = { ...failure.details, rpc_code: URL_ELICITATION_REQUIRED, rpc_data: { elicitations } };
  return new ToolLayerError('E3311', said, { ...failure, details });
}

/** An upstream's error that names addresses to open first, with the ids by which our own clients are notified. */
function withOwnIds(thrown: unknown, author: ElicitationAuthor): unknown {
  if (!(thrown instanceof ToolLayerError)) return thrown;
  const { rpc_code: code, rpc_data: data } = thrown.failure.details ?? {};
  if (code !== URL_ELICITATION_REQUIRED || !isObject(data) || !Array.isArray(data['elicitations'])) return thrown;
  const elicitations = data['elicitations'].map((each: unknown) =>
    isObject(each) ? { ...each, elicitationId: elicitationIdOf(author, each['elicitationId']) } : each,
  );
  const details = { ...thrown.failure.details, rpc_data: { ...data, elicitations } };
  return new ToolLayerError(thrown.code, thrown.message, { ...thrown.failure, details });
}
