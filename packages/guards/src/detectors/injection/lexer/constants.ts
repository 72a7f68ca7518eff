// What the lexer and those who read its tokens have to agree on. Read by both compilers, so nothing but numbers stands here.

/** Longest text that is read at once, in UTF-16 units. */
export const TEXT_UNITS_MAX = 65536;
/** Zeros behind the text, and ends behind the last token, for rules that look ahead. */
export const ROOM = 16;

/** Kinds of tokens; see `KIND`. */
export const END = 0;
export const WORD = 1;
export const NUMBER = 2;
export const QUOTE = 3;
export const OPEN = 4;
export const CLOSE = 5;
export const COMMA = 6;
export const SEMICOLON = 7;
export const COMPARISON = 8;
export const ARITHMETIC = 9;
export const LOGIC = 10;
export const COMMENT = 11;
export const OPEN_COMMENT = 12;
export const VARIABLE = 13;
export const DOT = 14;
export const OTHER = 15;

/** Bits of what is known of a quote; see `FLAG`. */
export const ODD = 1;
export const APOSTROPHE = 2;

/** What a unit is for the lexer, from the table of classes. */
export const CLASS_BLANK = 0;
/** A token by itself, wherever it stands. */
export const CLASS_SIMPLE = 1;
export const CLASS_LETTER = 2;
export const CLASS_DIGIT = 3;
/** What stands around it decides. */
export const CLASS_SIGN = 4;

/** Place of the bit of a unit that says: keep where it stands. */
export const MARK_PLACE = 12;
/** Place of the bit of a unit that words and numbers are made of. */
export const RUN_PLACE = 15;

/**
 * Factor of the hash of a word: a prime beyond the span of ASCII letters and digits, so that no two words of up to four of
 * them have one hash. A smaller one takes `q4` for `or`.
 */
export const HASH_FACTOR = 131;
/** 2³² divided by the golden ratio: spreads hashes that lie close together (Knuth, The Art of Computer Programming 3, §6.4). */
export const SPREAD = 0x9e3779b1;
/** Slots of the table of words. */
export const SLOTS = 1024;
export const SLOT_SHIFT = 12;
/** Groups of words that are moved in the table together. */
export const GROUPS = 256;
export const GROUP_SHIFT = 24;

/** Roles of a word in the table, as bits: SQL knows it. */
export const ROLE_KNOWN = 1;
/** A rule begins at it. */
export const ROLE_ANCHOR = 2;
/** A splice goes on with it behind a quote. */
export const ROLE_CONTINUES = 4;
/** Above the roles: what the word tells others. */
export const TELLS_PLACE = 8;

/** Places in the report that the lexer leaves. */
export const AT_MARK_COUNT = 0;
export const AT_TOLD = 1;
export const AT_ANCHOR_COUNT = 2;
export const AT_PROSE_PAIRS = 3;
export const AT_QUOTES = 4;
export const AT_DOUBLE_QUOTES = 5;
export const AT_VERSION_COMMENT = 6;
export const AT_LINE_COMMENTS = 7;
export const AT_HIDDEN_COUNT = 8;
export const AT_HIDDEN_PROSE_PAIRS = 9;
export const AT_HIDDEN_QUOTES = 10;
export const AT_HIDDEN_DOUBLE_QUOTES = 11;
export const AT_EXACT = 12;
export const REPORT_NUMBERS = 16;
