import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../../domain/shape/is-object.ts';

/** State that a client of the 2026 era carries from a question to its answer. */
export interface CarriedState {
  readonly invocationId: string;
  readonly approvalId: string;
  readonly bindingDigest: string;
  /** The holder who was asked. */
  readonly holder: string;
  /** SHA-256 over tool and arguments of the request. */
  readonly call: string;
}

/** Writes and reads `requestState`: only a holder of the key can make or change one. */
export interface StateSeal {
  seal(state: CarriedState): string;
  /** Undefined for text that was not sealed with this key. */
  open(text: string): CarriedState | undefined;
}

const MEMBERS = ['invocationId', 'approvalId', 'bindingDigest', 'holder', 'call'] as const;
/** Longest state that is read, in characters. */
const TEXT_MAX = 4_096;

/** @param key 32 bytes; instances with the same key accept each other's states */
export function createStateSeal(key: Uint8Array): StateSeal {
  const signed = (text: string): Buffer => createHmac('sha256', key).update(`confirmation.${text}`).digest();
  return {
    seal: (state) => {
      const text = Buffer.from(JSON.stringify(MEMBERS.map((member) => state[member]))).toString('base64url');
      return `${text}.${signed(text).toString('base64url')}`;
    },
    open: (text) => {
      const [body = '', mark = '', ...rest] = text.length > TEXT_MAX ? [] : text.split('.');
      const given = Buffer.from(mark, 'base64url');
      const expected = signed(body);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return stateIn(JSON.parse(Buffer.from(body, 'base64url').toString()));
    },
  };
}

function stateIn(values: unknown): CarriedState | undefined {
  if (!Array.isArray(values)) return undefined;
  const state: unknown = Object.fromEntries(MEMBERS.map((member, at) => [member, values[at]]));
  return isObject(state) && MEMBERS.every((member) => typeof state[member] === 'string')
    ? (state as unknown as CarriedState)
    : undefined;
}
