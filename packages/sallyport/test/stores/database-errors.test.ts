import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { databaseError, inDatabase, PLACE_TAKEN } from '../../src/storage/postgres/database-error.ts';
import { keyOfText, keyText } from '../../src/storage/postgres/key-text.ts';
import { poolTarget } from '../../src/storage/postgres/postgres-connection.ts';

/** An error as PostgreSQL sends it. */
const sent = (fields: Partial<DatabaseError>): DatabaseError =>
  Object.assign(new DatabaseError('secret detail', 1, 'error'), fields);

test.each([
  [{ code: '28P01' }, 'the password is wrong'],
  [{ code: '28000' }, 'this user may not connect'],
  [{ code: '3D000' }, 'the database does not exist'],
  [{ code: '42501' }, 'lacks a privilege'],
  [{ code: '40001' }, 'Try again'],
  [{ code: '40P01' }, 'Try again'],
  [{ code: '53100' }, 'its disk is full'],
  [{ code: '53300' }, 'no connection left'],
  [{ code: '53200' }, 'out of a resource'],
  [{ code: '55000' }, 'took too long to be written'],
  [{ code: '25006' }, 'read-only'],
  [{ code: '08006' }, 'cannot be reached'],
  [{ code: '57P01' }, 'starting, stopping or gave up'],
  [{ code: '58030' }, 'files cannot be read'],
  [{ code: '22P02' }, 'it refused with SQLSTATE 22P02'],
  [{}, 'it refused with SQLSTATE .'],
  [{ code: '23505', constraint: 'audit_events_chain_place' }, PLACE_TAKEN],
  [{ code: '23502', column: 'first_seq' }, PLACE_TAKEN],
  [{ code: '23502', table: 'audit_events', column: 'record' }, 'SQLSTATE 23502'],
  [{ code: '23502', table: 'tool_invocations', column: 'state' }, 'SQLSTATE 23502'],
])('PIPE-04 the error %o of the database says what to change, and no more', (fields, words) => {
  const cause = sent(fields);
  const error = databaseError('keep it', cause);
  expect(error).toMatchObject({ code: 'E3812', cause, message: expect.stringContaining(words) });
  expect(error.message.startsWith('The database could not keep it: ')).toBe(true);
  expect(error.message).not.toContain('secret detail');
});

test('what is no error of the database is a server that does not answer', async () => {
  const failing = inDatabase('keep it', () => Promise.reject(new Error('ECONNRESET')));
  await expect(failing).rejects.toMatchObject({ code: 'E3812', message: expect.stringContaining('cannot be reached') });
  const own = new ToolLayerError('E3101', 'words');
  await expect(inDatabase('keep it', () => Promise.reject(own))).rejects.toBe(own);
  expect(await inDatabase('keep it', async () => 7)).toBe(7);
});

test('AUD-02 a row of another call is an id that is taken, and no fault of the database', () => {
  const error = databaseError('keep it', sent({ code: '23502', table: 'tool_invocations', column: 'record' }));
  expect(error.code).not.toBe('E3812');
});

test('a key that begins like an escaped one comes back as it was', () => {
  for (const key of ['json:', 'json:"x"', 'a\0', '\ud800'])
    expect([keyText(key), keyOfText(keyText(key))]).toEqual([`json:${JSON.stringify(key)}`, key]);
});

test('an address is a URL of PostgreSQL or a socket', () => {
  const connection = { socketFolder: '/run', port: 1, user: 'u', password: 'p', database: 'd' };
  expect(poolTarget(connection)).toEqual({ host: '/run', port: 1, user: 'u', password: 'p', database: 'd' });
  for (const url of ['postgres://h/d', 'postgresql://u:p@h:1/d?sslmode=disable'])
    expect(poolTarget({ url })).toEqual({ connectionString: url });
  for (const url of ['', 'http://h/d', ' postgres://h/d', 'postgres:h', 'postgres://u:p@[h/d'])
    expect(() => poolTarget({ url })).toThrow(
      expect.objectContaining({ code: 'E3812', message: expect.stringContaining('SALLYPORT_DATABASE_URL') }),
    );
});
