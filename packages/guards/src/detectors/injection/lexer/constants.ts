/** Longest text that is read at once, in UTF-16 units. */
export const TEXT_UNITS_MAX = 65536;
/** Number of zeros after the text, and of end tokens after the last token: rules look that far ahead unchecked. */
export const ROOM = 16;

/** What a unit is for the lexer, from the table of classes. */
export const CLASS_BLANK = 0;
/** A token by itself, wherever it stands. */
export const CLASS_SIMPLE = 1;
export const CLASS_LETTER = 2;
export const CLASS_DIGIT = 3;
/** What stands around it decides. */
export const CLASS_SIGN = 4;

/** Position of the bit that says: record where the unit occurs. */
export const MARK_PLACE = 12;
