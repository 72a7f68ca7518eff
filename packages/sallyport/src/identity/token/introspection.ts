import { KiB } from '@sallyport/std/bytes';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import { strictObject } from './strict-json.ts';

/** Where an authorization server is asked about tokens, and as whom. */
export interface IntrospectionOptions {
  /** https, or http on this machine. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What a server says of a token (RFC 7662 §2.2); undefined for one that is not active. */
export type Introspect = (token: string) => Promise<Readonly<Record<string, unknown>> | undefined>;

const ANSWER_BYTES_MAX = 64 * KiB;
const TIMEOUT_MS = 5_000;
/** Questions under way; more are refused, so that made up tokens do not become a flood at the server. */
const AT_ONCE_MAX = 32;

/**
 * Asks about tokens, once at a time for each. Rejects with an Error that holds neither token nor secret when the server
 * cannot be asked.
 */
export function createIntrospection({ url, clientId, clientSecret }: IntrospectionOptions): Introspect {
  const asking = new Map<string, ReturnType<Introspect>>();
  const authorization = `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;
  const ask: Introspect = async (token) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, accept: 'application/json' },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`the introspection endpoint answered with HTTP ${response.status}`);
    }
    const body = await boundedBody(response, ANSWER_BYTES_MAX);
    if (body === undefined) throw new Error('the introspection endpoint sends too much');
    const said = strictObject(body);
    return said['active'] === true ? said : undefined;
  };
  return (token) => {
    const known = asking.get(token);
    if (known !== undefined) return known;
    if (asking.size >= AT_ONCE_MAX) return Promise.reject(new Error('too many tokens are being asked about'));
    const answer = ask(token).finally(() => asking.delete(token));
    asking.set(token, answer);
    return answer;
  };
}

/** As in a form (RFC 6749 §2.3.1). */
const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
