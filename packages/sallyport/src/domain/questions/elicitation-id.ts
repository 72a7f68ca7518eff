import { randomUUID } from 'node:crypto';
import { sha256 } from '@sallyport/std/sha256';

const CHARACTERS = 32;

/**
 * The id under which a client of 2025-11-25 is asked to open an address, and notified once its user is done there. It is
 * made of its author and the author's own id, so that no author can name an id of another.
 */
export const elicitationIdOf = (author: ElicitationAuthor, id: unknown): string =>
  typeof id === 'string' ? sha256(JSON.stringify([author, id])).slice(0, CHARACTERS) : randomUUID();

/** Who asks: an upstream of a tenant, or the layer for a login, whose id is the login's state. */
export type ElicitationAuthor = 'login' | { readonly tenantId: string; readonly upstream: string };
