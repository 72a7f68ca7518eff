import type { InvocationRecord } from '../../domain/invocation/record.ts';

/** The last call of a page, as a cursor to the next one. */
export type CallPlace = Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;

/** The cursor as text for callers. */
export const cursorOf = ({ acceptedAt, invocationId }: CallPlace): string => `${acceptedAt}_${invocationId}`;

/** Undefined for a text that is no cursor. */
export function placeOf(cursor: string): CallPlace | undefined {
  const [, acceptedAt, invocationId] = /^(\d{1,15})_([A-Za-z0-9][A-Za-z0-9_-]{0,127})$/.exec(cursor) ?? [];
  return acceptedAt === undefined || invocationId === undefined
    ? undefined
    : { acceptedAt: Number(acceptedAt), invocationId };
}
