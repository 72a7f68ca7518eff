/** Characters of a foreign text in a fault. */
const SHOWN_MAX = 80;

/** The beginning of a text, for a message. */
export const shortened = (text: string): string => (text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`);
