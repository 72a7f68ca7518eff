// Hot path: words of every text are looked up here.
import { TOLD_WORDS } from '../text/told-words.ts';

/** What a word means in SQL; a word may be of several kinds. */
export const IS = {
  connective: 1 << 0,
  comparison: 1 << 1,
  constant: 1 << 2,
  prefix: 1 << 3,
  union: 1 << 4,
  select: 1 << 5,
  statement: 1 << 6,
  clause: 1 << 7,
  delay: 1 << 8,
  about: 1 << 9,
  attack: 1 << 10,
  scalar: 1 << 11,
  catalogue: 1 << 12,
  object: 1 << 13,
  quantity: 1 << 14,
  /** Begins a clause that may name a column by its place. */
  place: 1 << 15,
  /** No word of SQL, but one that tells something else. */
  foreign: 1 << 16,
} as const;

const WORDS: readonly (readonly [kinds: number, words: string])[] = [
  [IS.connective, 'or and xor having where when'],
  [IS.comparison, 'like rlike regexp ilike glob between is in similar sounds mod div'],
  [IS.constant, 'null true false'],
  [IS.prefix, 'not binary distinct all distinctrow exists row any some'],
  [IS.quantity, 'top'],
  [IS.union, 'union intersect except minus'],
  [IS.select | IS.statement, 'select'],
  [IS.statement, 'insert update delete drop create alter exec execute declare shutdown truncate merge grant waitfor'],
  [IS.statement, 'call begin if load copy set with explain show replace rename backup restore dbcc bulk goto'],
  [IS.clause | IS.place, 'order group'],
  [IS.clause, 'from by limit procedure into offset as for case then else end desc asc values on join using'],
  [IS.delay, 'sleep benchmark pg_sleep randomblob delay generate_series'],
  [IS.about, 'version user database current_user system_user session_user schema current_database current_schema'],
  [IS.about, 'sqlite_version user_name db_name suser_name host_name is_srvrolemember connection_id charset'],
  [IS.attack, 'extractvalue updatexml xp_cmdshell xp_dirtree xp_regread xp_fileexist xp_servicecontrol sp_oacreate'],
  [IS.attack, 'sp_configure sp_makewebtask load_file load_extension utl_inaddr utl_http utl_file dbms_pipe dbms_lock'],
  [IS.attack, 'dbms_xmlgen dbms_ldap ctxsys json_keys group_concat concat_ws openrowset opendatasource sys_eval'],
  [IS.attack, 'sys_exec lo_import lo_export pg_read_file query_to_xml xmltype filetoclob make_set analyse outfile'],
  [IS.attack, 'dumpfile infile xmlagg'],
  [IS.scalar, 'ascii substring substr mid ord hex unhex char chr concat length len count cast convert conv elt pi'],
  [IS.scalar, 'lpad rpad upper lower ifnull isnull nullif coalesce md5 sha1 floor rand compress bin cos sin abs sum'],
  [IS.scalar, 'min max exp greatest least encode decode aes_encrypt aes_decrypt quote rtrim ltrim trim nvl locate'],
  [IS.scalar, 'instr position strcmp left right reverse round sqrt'],
  [IS.catalogue, 'information_schema sysobjects syscolumns sysusers syslogins sysdatabases all_tables all_users'],
  [IS.catalogue, 'all_tab_columns dba_users dba_tables user_tables user_tab_columns user_objects pg_catalog pg_user'],
  [
    IS.catalogue,
    'pg_shadow pg_tables sqlite_master sqlite_schema msysaccessobjects msysobjects sysibm xp_availablemedia',
  ],
  [IS.object, 'table database view index user schema procedure function trigger login role column'],
];

/**
 * A prime beyond the span of ASCII letters and digits, so that no two words of up to four of them have one hash: a smaller
 * one takes `q4` for `or`.
 */
export const HASH_FACTOR = 131;
/** Longest word of the table, in characters. */
const LENGTH_MAX = 20;
const SLOTS = 1 << 12;

const hashes = new Int32Array(SLOTS);
const kindsOf = new Int32Array(SLOTS);
const toldBy = new Int32Array(SLOTS);
const names: (string | undefined)[] = new Array(SLOTS);
for (const [kinds, words] of WORDS) for (const word of words.split(' ')) enter(word, kinds);
for (const [bit, words] of TOLD_WORDS) {
  for (const word of words.split(' ')) {
    const slot = enter(word, IS.foreign);
    toldBy[slot] = (toldBy[slot] ?? 0) | bit;
  }
}

function enter(word: string, kinds: number): number {
  const hash = hashWord(word);
  let slot = hash & (SLOTS - 1);
  while (kindsOf[slot] !== 0 && names[slot] !== word) slot = (slot + 1) & (SLOTS - 1);
  hashes[slot] = hash;
  kindsOf[slot] = (kindsOf[slot] ?? 0) | kinds;
  names[slot] = word;
  return slot;
}

/** Hash of a word in lower case; the lexer computes the same while it reads. */
export function hashWord(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = (Math.imul(hash, HASH_FACTOR) + word.charCodeAt(at)) | 0;
  return hash;
}

/** Lower case of a Latin letter; full-width letters become plain ones. */
export function foldCode(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if (code >= 0xff21 && code <= 0xff3a) return code - 0xff21 + 97;
  return code >= 0xff41 && code <= 0xff5a ? code - 0xff41 + 97 : code;
}

/** Slot of the word with this hash, or -1. Two long words with one hash would be taken for each other; none are known. */
export function slotOf(hash: number, length: number): number {
  let slot = hash & (SLOTS - 1);
  // Most words end here.
  if (kindsOf[slot] === 0 || length > LENGTH_MAX) return -1;
  while (kindsOf[slot] !== 0) {
    if (hashes[slot] === hash) return slot;
    slot = (slot + 1) & (SLOTS - 1);
  }
  return -1;
}

/** What the word in a slot tells beside SQL, as bits of TOLD. */
export const toldAt = (slot: number): number => toldBy[slot] ?? 0;

/** Kinds of the word in a slot, 0 for none. */
export function kindsAt(slot: number): number {
  return slot < 0 ? 0 : (kindsOf[slot] ?? 0);
}

/** Slot of one word, to compare tokens with. */
export function slotFor(word: string): number {
  const slot = slotOf(hashWord(word), word.length);
  if (slot < 0) throw new Error(`The table of SQL words lacks ${word}.`);
  return slot;
}
