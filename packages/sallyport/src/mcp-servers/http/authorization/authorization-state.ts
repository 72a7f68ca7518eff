import type { JWK } from 'jose';
import type { ServerMetadata } from 'openid-client';
import type { TokenEndpointMethod } from '../../../../api/schemas/identity/upstream-authorization.ts';

/** The layer as client of an authorization server. */
export interface KnownClient {
  readonly id: string;
  /** Of a client that registered itself; secrets of others stay in the secret store. */
  readonly secret?: string;
  /** How it identifies itself at the token endpoint. */
  readonly method: TokenEndpointMethod;
}

/** Where tokens come from, and for what. */
export interface TokenSource {
  readonly server: ServerMetadata;
  readonly client: KnownClient;
  /** Canonical address of the upstream (RFC 8707). */
  readonly resource: string;
}

/** Tokens as they were issued. */
export interface Tokens {
  readonly access: string;
  readonly isDpop: boolean;
  readonly refresh?: string;
  /** Epoch ms; absent when the server does not say. */
  readonly expiresAt?: number;
}

/** A login that was begun: the link was given out and the redirect has not come yet. */
export interface PendingLogin {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUrl: string;
  readonly link: string;
  readonly source: TokenSource;
  readonly scopes: readonly string[];
  /** Private key that its tokens are bound to. */
  readonly dpopKey?: JWK;
  /** Epoch ms. */
  readonly endsAt: number;
}

/** What is kept of one holder's authorization at an upstream. */
export interface HolderState {
  /** Another one for each login that ended with tokens; tokens that are renewed keep it. */
  readonly loginId?: string;
  readonly tokens?: Tokens;
  readonly source?: TokenSource;
  /** Every scope that was asked for so far. */
  readonly scopes?: readonly string[];
  /** Scopes that the upstream asked for and that only a login can bring. */
  readonly wanted?: readonly string[];
  /** Private key that tokens are bound to. */
  readonly dpopKey?: JWK;
  readonly login?: PendingLogin;
}

/** What is kept of an upstream for all holders. */
export interface UpstreamState {
  /** The registration, with the authorization server that it belongs to. */
  readonly client?: KnownClient & { readonly issuer: string; readonly redirectUrl?: string };
  /** Address of the metadata that the upstream named in a challenge. */
  readonly metadataUrl?: string;
  /** Whether its challenge asked for tokens that are bound to a key. */
  readonly asksDpop?: boolean;
}

/** Members of a server's metadata that are kept with the tokens. */
const KEPT = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'scopes_supported',
  'grant_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
  'dpop_signing_alg_values_supported',
  'id_token_signing_alg_values_supported',
] as const;

/** The metadata that later requests need. */
export function keptMetadata(metadata: Readonly<Record<string, unknown>>): ServerMetadata {
  const kept = KEPT.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]] as const]));
  return Object.fromEntries(kept) as unknown as ServerMetadata;
}
