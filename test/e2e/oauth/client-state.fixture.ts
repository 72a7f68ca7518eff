import type { OAuthClientProvider } from '@modelcontextprotocol/client';

/** Where the user's browser is sent after the login; nothing listens there. */
export const CALLBACK = 'http://127.0.0.1:3939/callback';

/** What one MCP client remembers of its logins. At the start it knows nothing. */
export class ClientState implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    client_name: 'Desk <b>client</b>',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** Addresses that the user's browser was sent to. */
  readonly visited: string[] = [];
  #information: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  #tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  #discovery: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  #verifier = '';

  clientInformation() {
    return this.#information;
  }
  saveClientInformation(given: NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>): void {
    this.#information = given;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(given: NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>): void {
    this.#tokens = given;
  }
  discoveryState() {
    return this.#discovery;
  }
  saveDiscoveryState(
    given: NonNullable<Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>>,
  ): void {
    this.#discovery = given;
  }
  redirectToAuthorization(url: URL): void {
    this.visited.push(url.href);
  }
  saveCodeVerifier(given: string): void {
    this.#verifier = given;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}
