/** The part of oidc-provider that the development authorization server uses; the library has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  /** A stored object of any of the library's models. */
  export type StoredPayload = Record<string, unknown>;

  export interface Adapter {
    upsert(id: string, payload: StoredPayload, expiresIn?: number): Promise<void>;
    find(id: string): Promise<StoredPayload | undefined>;
    findByUid(uid: string): Promise<StoredPayload | undefined>;
    findByUserCode(userCode: string): Promise<StoredPayload | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly redirectUris: readonly string[];
    grantTypeAllowed(name: string): boolean;
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  /** A request that waits for its user. */
  export interface Interaction {
    readonly uid: string;
    readonly jti: string;
    readonly grantId?: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly prompt: {
      readonly name: string;
      readonly details: {
        readonly missingOIDCScope?: readonly string[];
        readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
      };
    };
    readonly session?: { readonly accountId: string };
  }

  /** The library's view of one request. */
  export interface Context {
    type: string;
    body: unknown;
    set(name: string, value: string): void;
    readonly oidc: { readonly params?: Readonly<Record<string, unknown>> };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    on(event: string, listener: (context: unknown, error: Error) => void): this;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: { readonly mergeWithLastSubmission?: boolean },
    ): Promise<string>;
    readonly Client: { find(id: string): Promise<Client | undefined> };
    readonly Grant: {
      new (of: { readonly accountId: string; readonly clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
  }

  export const errors: Readonly<
    Record<'InvalidTarget' | 'UnauthorizedClient' | 'SessionNotFound', new (description?: string) => Error>
  >;
}
