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
} as const;

/** The words that rules ask for, by kind. */
export const WORDS: readonly (readonly [kinds: number, words: string])[] = [
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

/** Words at which a rule begins. */
export const ANCHORS = IS.connective | IS.union | IS.statement | IS.place | IS.delay | IS.attack | IS.scalar | IS.about;

/** Words with which an injection continues right after a quote. */
export const CONTINUING =
  'or and xor union like is having regexp rlike between group order declare select exec procedure';
