import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Interaction, Provider } from 'oidc-provider';
import { sendPage } from '../../http-answer.ts';
import { type BodyBudget, readBody } from '../../request-body.ts';
import { AUTHORIZATION_PATH } from './authorization-path.ts';
import { type AuthorizationTerms, meaningOf } from './authorization-settings.ts';
import { type CodeGuesses, createCodeGuesses } from './code-guesses.ts';
import { CONSENT_STYLE, consentPage, loginPage, problemPage } from './consent-pages.ts';

/** Parts of the pages on which a user logs in and decides. */
export interface InteractionParts {
  readonly provider: Provider;
  readonly terms: AuthorizationTerms;
  readonly bodies: BodyBudget;
  /** Seals forms. */
  readonly formKey: Uint8Array;
}

/** Answers requests for the pages. */
export type AnswerInteraction = (request: IncomingMessage, response: ServerResponse, uid: string) => Promise<void>;

/** Bytes of a sent form. */
const FORM_BYTES_MAX = 4096;

interface Asked extends InteractionParts {
  readonly guesses: CodeGuesses;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly interaction: Interaction;
}

/**
 * Makes the pages. Only the browser that began a login gets further: it has the cookie of the interaction. A form counts
 * when this page made it for this step, and a page of this address sent it.
 */
export function createInteractions(parts: InteractionParts): AnswerInteraction {
  const guesses = createCodeGuesses(parts.terms.loginCode);
  return async (request, response, uid) => {
    const interaction = await parts.provider.interactionDetails(request, response).catch(() => undefined);
    if (interaction === undefined || interaction.uid !== uid) {
      show(response, 400, problemPage('This login is over', 'Start it again in the program that you came from.'));
      return;
    }
    const asked = { ...parts, guesses, request, response, interaction };
    if (request.method === 'POST') await takeForm(asked);
    else await showPage(asked);
  };
}

/** The referrer stays on this address; without one the browser would send the forms with the origin `null`. */
function show(response: ServerResponse, status: number, html: string): void {
  sendPage(response, html, CONSENT_STYLE, { status, referrer: 'same-origin' });
}

async function showPage(asked: Asked, problem?: string): Promise<void> {
  const { interaction, provider, response, terms } = asked;
  const { client_id, redirect_uri, resource } = interaction.params;
  const client = await provider.Client.find(String(client_id));
  const clientName = client?.clientName ?? String(client_id);
  const form = { action: `${AUTHORIZATION_PATH}/consent/${interaction.uid}`, seal: sealOf(asked) };
  if (interaction.prompt.name === 'login') {
    show(response, problem === undefined ? 200 : 403, loginPage(form, terms.users, clientName, problem));
    return;
  }
  const wish = {
    clientName,
    clientId: String(client_id),
    user: userOf(interaction),
    redirectUri: String(redirect_uri),
    resources: resource === undefined ? terms.resources.slice(0, 1) : [resource].flat().map(String),
    scopes: scopesAsked(interaction).map((scope) => ({ scope, means: meaningOf(scope, terms) })),
  };
  show(response, 200, consentPage(form, wish));
}

async function takeForm(asked: Asked): Promise<void> {
  const { bodies, interaction, request, response, guesses, terms } = asked;
  let form: URLSearchParams;
  try {
    const bytes = await readBody(request, { bytesMax: FORM_BYTES_MAX, budget: bodies, admit: async () => undefined });
    form = new URLSearchParams(bytes.toString());
  } catch (thrown) {
    show(response, 400, problemPage('The form cannot be read', failureOf(thrown).message));
    return;
  }
  if (!isFromHere(request, terms) || !isEqual(form.get('seal') ?? '', sealOf(asked))) {
    show(response, 403, problemPage('This form is not from here', 'Nothing was allowed. Start the login again.'));
    return;
  }
  if (interaction.prompt.name !== 'login') {
    await finish(asked, form.get('decision') === 'allow' ? { consent: { grantId: await granted(asked) } } : DENIED);
    return;
  }
  const user = form.get('user') ?? '';
  const fault = terms.users.includes(user) ? guesses.fault(form.get('code') ?? '') : 'There is no such user.';
  if (fault === undefined) await finish(asked, { login: { accountId: user } });
  else await showPage(asked, fault);
}

const DENIED = { error: 'access_denied', error_description: 'the user denied it' };

async function finish({ provider, request, response }: Asked, result: object): Promise<void> {
  const next = await provider.interactionResult(request, response, result);
  response.writeHead(303, ['location', next, 'content-length', '0', 'cache-control', 'no-store']).end();
}

/** Grants what was shown, in addition to what the user granted this client before. */
async function granted({ interaction, provider }: Asked): Promise<string> {
  const { grantId, params, prompt } = interaction;
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId: userOf(interaction), clientId: String(params['client_id']) });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '));
  return grant.save();
}

/** All scopes of the request; the token has the scopes granted before too. */
function scopesAsked({ params }: Interaction): readonly string[] {
  return [...new Set(String(params['scope'] ?? '').split(' '))].filter((scope) => scope !== '');
}

const userOf = ({ session }: Interaction): string => session?.accountId ?? '';

/** Browsers name the origin of the page that sends a form; other programs have no cookie of the interaction. */
function isFromHere({ headers }: IncomingMessage, { issuer }: AuthorizationTerms): boolean {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  return site === 'same-origin' && (origin === undefined || origin === issuer);
}

/** Binds a form to the step, and to the user who was shown it. */
function sealOf({ formKey, interaction }: Asked): string {
  const step = JSON.stringify([interaction.uid, interaction.prompt.name, userOf(interaction), interaction.params]);
  return createHmac('sha256', formKey).update(step).digest('base64url');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
